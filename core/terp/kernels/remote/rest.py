"""The REST interface of a gateway: kernelspecs, start and end of kernels, and its errors as messages."""

import os
import ssl
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import certifi
import httpx

from terp.errors import GatewayRefused, GatewayUnavailable, KernelStartFailed
from terp.kernels.remote.kernels import GatewaySpec
from terp.settings.gateway import TOKEN_VARIABLES, Gateway

_NO_RIGHT = (401, 403)
# Reasons that servers give by default.
_PLAIN = ("Forbidden", "Unauthorized", "403", "401")
_GIVE_ONE = f"Put it into the variable {TOKEN_VARIABLES[0]}, or name its file with gateway_token_file."


def refused(gateway: Gateway, status: int, reason: str, location: str = "") -> KernelStartFailed:
    """Return the error for an HTTP status; `location` is the target of a redirect."""
    said = f"{status} {reason}".strip().rstrip(".")
    if status in _NO_RIGHT:
        return _no_right(gateway, said)
    if location:
        where = urlsplit(location)
        return GatewayRefused(
            f"{gateway.host} refused access: it redirects to {where.netloc}{where.path} ({said}).",
            f"Check the token, and that gateway_url is the server itself. {_token_of(gateway)}",
        )
    if status == 404:
        return GatewayUnavailable(
            f"The server has no such resource at {gateway.url}/api ({said}).",
            "Check gateway_url: it ends where /api begins, and behind JupyterHub with /user/NAME.",
        )
    return GatewayUnavailable(f"The gateway at {gateway.host} failed: {said}.", "See its log.")


def unreachable(gateway: Gateway, error: BaseException) -> GatewayUnavailable:
    """Return the error for a connection that failed."""
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
        return GatewayRefused(f"The gateway at {gateway.host} requires a token ({said}).", _GIVE_ONE)
    return GatewayRefused(
        f"The gateway at {gateway.host} refuses the token of {gateway.token.origin} ({said}).",
        "Ask for a new one where the gateway or the hub gives them out.",
    )


def _token_of(gateway: Gateway) -> str:
    token = gateway.token
    return f"The token is that of {token.origin}." if token.value else f"No token is set. {_GIVE_ONE}"


def _of_tls(error: BaseException) -> ssl.SSLError | None:
    """Return the TLS error that caused an error, or None."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None


# Time limits for any answer, and for the start of a kernel: a pod or batch job may have to be scheduled.
_ANSWER_S, _LAUNCH_S = 15.0, 300.0
_GONE = "dead"


class GatewayApi:
    """Asks one gateway. Every method raises `GatewayRefused` or `GatewayUnavailable` when it cannot.

    `tls` checks the gateway's certificate, for other connections to it too; None without encryption.
    """

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.tls = trusting() if gateway.url.startswith("https:") else None
        self._http = httpx.AsyncClient(
            headers=dict(gateway.headers),
            verify=self.tls or False,
            timeout=_ANSWER_S,
            # A proxy has no way to this machine.
            trust_env=not gateway.is_here,
        )

    async def specs(self) -> Sequence[GatewaySpec]:
        """Return the kernelspecs, the default first."""
        body = await self._json("GET", "kernelspecs")
        rows = body.get("kernelspecs")
        if not isinstance(rows, Mapping):
            raise GatewayUnavailable(f"The server at {self.gateway.host} is no Jupyter gateway.")
        default = str(body.get("default") or "")
        specs = [_spec(name, row) for name, row in rows.items()]
        return sorted(specs, key=lambda spec: (spec.name != default, spec.name))

    async def start(self, name: str, environment: Mapping[str, str]) -> str:
        """Start a kernel of the kernelspec `name`; return its id.

        `environment` are variables for the gateway that begin with KERNEL_.
        """
        # A Kernel Gateway that gets any variables passes no others to the kernel.
        body = {"name": name, **({"env": dict(environment)} if environment else {})}
        started = await self._json("POST", "kernels", json=body, timeout=_LAUNCH_S)
        if not isinstance(started.get("id"), str):
            raise GatewayUnavailable(f"{self.gateway.host} started no kernel: its answer names none.")
        return str(started["id"])

    async def state(self, kernel_id: str) -> str:
        """Return the kernel's state as the server reports it: "busy", "idle"…; "" if it has ended."""
        # A poll is no activity: an unused server may be culled.
        answer = await self._send("GET", "kernels", kernel_id, params={"no_track_activity": "1"})
        if answer.status_code == httpx.codes.NOT_FOUND:
            return ""
        state = str(self._json_of(answer).get("execution_state") or "unknown")
        return "" if state == _GONE else state

    async def interrupt(self, kernel_id: str) -> None:
        """Stop the code that a kernel runs."""
        self._check(await self._send("POST", "kernels", kernel_id, "interrupt"))

    async def delete(self, kernel_id: str) -> None:
        """End a kernel; one that is not there is ended already."""
        answer = await self._send("DELETE", "kernels", kernel_id)
        if answer.status_code != httpx.codes.NOT_FOUND:
            self._check(answer)

    async def aclose(self) -> None:
        """Close the connections. Harmless when called twice."""
        await self._http.aclose()

    async def _json(self, method: str, *parts: str, **more: Any) -> Mapping[str, Any]:
        return self._json_of(await self._send(method, *parts, **more))

    async def _send(self, method: str, *parts: str, **more: Any) -> httpx.Response:
        try:
            return await self._http.request(method, self.gateway.api(*parts), **more)
        except httpx.HTTPError as error:
            raise unreachable(self.gateway, error) from error

    def _json_of(self, answer: httpx.Response) -> Mapping[str, Any]:
        self._check(answer)
        try:
            body = answer.json()
        except ValueError:
            body = None
        if not isinstance(body, Mapping):
            raise GatewayUnavailable(
                f"The server at {self.gateway.host} is no Jupyter gateway.",
                "Check gateway_url: it ends where /api begins.",
            )
        return body

    def _check(self, answer: httpx.Response) -> None:
        if not answer.is_success:
            raise refused(
                self.gateway, answer.status_code, _reason(answer), answer.headers.get("location", "")
            )


def trusting() -> ssl.SSLContext:
    """TLS settings with the machine's certificates, and those of SSL_CERT_FILE and SSL_CERT_DIR.

    If the machine has no certificate store, as with some Pythons of macOS, certifi's is used.
    """
    context = ssl.create_default_context()
    if not (context.get_ca_certs() or os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")):
        context.load_verify_locations(certifi.where())
    return context


def _spec(name: str, row: Any) -> GatewaySpec:
    spec = row.get("spec") if isinstance(row, Mapping) else None
    body = spec if isinstance(spec, Mapping) else {}
    language = str(body.get("language") or name).casefold()
    return GatewaySpec(name, language, str(body.get("display_name") or name))


def _reason(answer: httpx.Response) -> str:
    """Return the server's reason for an error, in one line."""
    try:
        body = answer.json()
    except ValueError:
        body = None
    said = (body.get("message") or body.get("reason")) if isinstance(body, Mapping) else ""
    return " ".join(str(said or answer.reason_phrase).split())[:300]
