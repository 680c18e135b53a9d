"""What goes wrong between terp and a gateway, in words."""

import ssl
from urllib.parse import urlsplit

from terp.errors import GatewayRefused, GatewayUnavailable, KernelStartFailed
from terp.settings.gateway import TOKEN_VARIABLES, Gateway

_NO_RIGHT = (401, 403)
# What servers say who give no reason.
_PLAIN = ("Forbidden", "Unauthorized", "403", "401")
_GIVE_ONE = f"Put it into the variable {TOKEN_VARIABLES[0]}, or name its file with gateway_token_file."


def refused(gateway: Gateway, status: int, reason: str, location: str = "") -> KernelStartFailed:
    """The error that an HTTP status means; `location` is where the server sends to instead."""
    said = f"{status} {reason}".strip().rstrip(".")
    if status in _NO_RIGHT:
        return _no_right(gateway, said)
    if location:
        where = urlsplit(location)
        return GatewayRefused(
            f"{gateway.host} does not let terp in: it sends to {where.netloc}{where.path} ({said}).",
            f"Check the token, and that gateway_url is the server itself. {_token_of(gateway)}",
        )
    if status == 404:
        return GatewayUnavailable(
            f"There is no such thing at {gateway.url}/api ({said}).",
            "Check gateway_url: it ends where /api begins, and behind JupyterHub with /user/NAME.",
        )
    return GatewayUnavailable(f"The gateway at {gateway.host} failed: {said}.", "Its log tells more.")


def unreachable(gateway: Gateway, error: BaseException) -> GatewayUnavailable:
    """The error that a connection which failed means."""
    cause = _of_tls(error)
    if cause is not None:
        why = getattr(cause, "verify_message", "") or cause.reason or str(cause)
        return GatewayUnavailable(
            f"The connection to {gateway.host} cannot be made safe: {why}.",
            "If it has a certificate of its own, name the file with its authority in SSL_CERT_FILE.",
        )
    said = str(error).strip().rstrip(".") or type(error).__name__
    return GatewayUnavailable(
        f"Nothing answers at {gateway.host}: {said}.", "Start the gateway, or check gateway_url."
    )


def _no_right(gateway: Gateway, said: str) -> GatewayRefused:
    if "limit" in said.lower():
        return GatewayRefused(
            f"The gateway at {gateway.host} starts no more kernels ({said}).",
            "End one of those that run there, or ask who runs the gateway.",
        )
    if gateway.token.value and not said.endswith(_PLAIN):
        return GatewayRefused(f"The gateway at {gateway.host} does not allow this: {said}.")
    if not gateway.token.value:
        return GatewayRefused(f"The gateway at {gateway.host} wants a token ({said}).", _GIVE_ONE)
    return GatewayRefused(
        f"The gateway at {gateway.host} refuses the token of {gateway.token.origin} ({said}).",
        "Ask for a new one where the gateway or the hub gives them out.",
    )


def _token_of(gateway: Gateway) -> str:
    token = gateway.token
    return f"The token is that of {token.origin}." if token.value else f"No token is set. {_GIVE_ONE}"


def _of_tls(error: BaseException) -> ssl.SSLError | None:
    """The failure of TLS that an error came of, if it did."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None
