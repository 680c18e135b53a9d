"""Access checks: one layer around every route of a server, whatever router the route comes from.

The checks, in this order: the request names this server (`Host`), it does not come from a page of another
origin (`Origin`), and it has the token exactly once, in one of two headers. A WebSocket sends the token in
`Authorization`, or in its first frame, because scripts of a page cannot set headers: `{"token": "…"}`. An
address with the token's signature opens one output without the token, for example in a chat page.
"""

import asyncio
import hmac
import os
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from terp.errors import SettingsError
from terp.text.dataclasses import dataclass
from terp.text.files import content_of, make_private, new_file
from terp_cli.server import failures
from terp_cli.server.connections import ServerLimits, known
from terp_cli.server.failures import RequestRefused
from terp_cli.server.transcript import decoded

_PORT_OF_HTTP = 80


@dataclass
class OwnNames:
    """The names of one server; `Host` and `Origin` must equal one of them exactly.

    `host` and `port` are where it listens, and can be set until it does.

    A page elsewhere whose name was made to point to this machine (DNS rebinding) sends that name. IP
    addresses cannot be redirected so, and the address that a connection came in on is always accepted.
    """

    host: str
    port: int

    @property
    def written(self) -> str:
        """The host and the port as addresses have them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def is_host(self, host: str, came_in_on: str) -> bool:
        """Return True if `host` is a name of this server."""
        return host in self._hosts(came_in_on)

    def is_origin(self, origin: str, came_in_on: str) -> bool:
        """Return True if `origin` is that of a page of this server."""
        return origin in {f"http://{host}" for host in self._hosts(came_in_on)}

    def _hosts(self, came_in_on: str) -> frozenset[str]:
        names = {self.host, came_in_on} - {"", "0.0.0.0", "::"}  # noqa: S104  (these are no names)
        if is_loopback(self.host):
            names.add("localhost")
        written = {f"[{name}]" if ":" in name else name for name in names}
        bare = written if self.port == _PORT_OF_HTTP else set()
        return frozenset({*bare, *(f"{name}:{self.port}" for name in written)})


# Each request asks it of the name of its server.
@lru_cache(16)
def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


# RFC 6455: a message that goes against the rules of this server; and 1013, "try again later".
POLICY, BUSY = 1008, 1013
_LONGEST_GREETING = 4_096
_OUTPUT = re.compile(r"/v1/sessions/[^/]+/outputs/[^/]+")
# What browsers say of a call by a page of this server, and of an address that somebody has typed.
_NOT_FOREIGN = frozenset({"same-origin", "none"})


TOKEN_VARIABLE = "TERP_SERVER_TOKEN"  # noqa: S105  (the name of a variable)
_OPEN_S = 7 * 24 * 3_600
_SIGNATURE = re.compile(r"until=(\d{1,12})&signature=([0-9a-f]{64})", re.ASCII)
# 16 random bytes in base64.
_SHORTEST = 22
_MAKE = "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"


class ServerToken:
    """The token of a server: compared in constant time, not shown by `repr`."""

    def __init__(self, text: str) -> None:
        self._text = text

    def matches(self, given: bytes) -> bool:
        """Return True if `given` is the token."""
        return hmac.compare_digest(given, self._text.encode())

    def signature(self, path: str) -> str:
        """Return the query that opens this path without the token, for a week or until the token changes."""
        until = int(time.time()) + _OPEN_S
        return f"?until={until}&signature={self._signed(path, until)}"

    def opens(self, path: str, query: str) -> bool:
        """Return True if a query is a valid signature that has not expired."""
        found = _SIGNATURE.fullmatch(query)
        return (
            found is not None
            and time.time() < int(found[1])
            and hmac.compare_digest(found[2], self._signed(path, int(found[1])))
        )

    def _signed(self, path: str, until: int) -> str:
        return hmac.new(self._text.encode(), f"{until} {path}".encode(), "sha256").hexdigest()

    def reveal(self) -> str:
        """Return the token itself, for its file and for the redactor."""
        return self._text


def token_of(environ: Mapping[str, str], kept_in: Path | None = None) -> tuple[ServerToken, bool]:
    """Return the token in `TERP_SERVER_TOKEN`, and False; else one that is `kept_in` a folder, or a new one.

    Raises:
        SettingsError: the given token is too short, or not valid in a header.
    """
    given = environ.get(TOKEN_VARIABLE, "")
    if not given:
        return ServerToken(_kept(kept_in) if kept_in else secrets.token_urlsafe(32)), True
    if not _is_usable(given):
        problem = (
            f"{TOKEN_VARIABLE} must have {_SHORTEST} characters or more, and no spaces. To make one: {_MAKE}"
        )
        raise SettingsError([problem])
    return ServerToken(given), False


def _is_usable(token: str) -> bool:
    return len(token) >= _SHORTEST and all("!" <= letter <= "~" for letter in token)


def _kept(folder: Path) -> str:
    """Return the token in a file of this private folder; a new one, stored there, if it has none."""
    path = make_private(folder) / "kept.token"
    with suppress(OSError):
        if _is_usable(token := content_of(path, _LONGEST_GREETING).decode("ascii", "replace").strip()):
            return token
    token = secrets.token_urlsafe(32)
    _write(path, token)
    return token


def _write(path: Path, token: str) -> None:
    # What a server that was killed has left, or a link that somebody has put there, is not written through.
    with os.fdopen(new_file(path), "w") as file:
        file.write(f"{token}\n")


@contextmanager
def written(token: ServerToken, folder: Path, port: int) -> Iterator[Path]:
    """Write the token to a file that only its owner can read; remove the file after the block."""
    path = make_private(folder) / f"server-{port}.token"
    _write(path, token.reveal())
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink()


@dataclass(eq=False)
class Access:
    """ASGI middleware that checks access. `public` are paths without session data, which need no token.

    Requests for which `elsewhere` is true are checked by another middleware behind this one, with its key.
    """

    app: ASGIApp
    names: OwnNames
    token: ServerToken
    limits: ServerLimits
    public: Collection[str]
    elsewhere: Callable[[Scope], bool]
    _strangers: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on permitted requests, and refuse the others."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refused = self._misled(scope) or (None if self._may_be_strange(scope) else self._unknown(scope))
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send, refused)
        elif refused is not None:
            await answer(scope, receive, send, refused)
        else:
            await self.app(scope, receive, send)

    def _misled(self, scope: Scope) -> RequestRefused | None:
        """Return a refusal if the request is for another server, or from a page of another origin."""
        if not scope["path"].startswith("/"):
            return RequestRefused(400, "The request line must contain only a path.")
        if len(scope["raw_path"]) + len(scope["query_string"]) > self.limits.headers:
            return RequestRefused(414, f"The address is longer than {self.limits.headers:,} bytes.")
        if sum(len(key) + len(value) for key, value in scope["headers"]) > self.limits.headers:
            return RequestRefused(431, f"The headers are longer than {self.limits.headers:,} bytes.")
        address = str((scope.get("server") or ("",))[0])
        hosts = values(scope, b"host")
        if len(hosts) != 1 or not self.names.is_host(hosts[0], address):
            return RequestRefused(421, "The Host of the request is not a name of this server.")
        origins = values(scope, b"origin")
        # To GET something browsers send no origin, but from where it is that they call.
        open_to_all = self._is_page(scope) or self._is_signed(scope)
        foreign = not open_to_all and not _NOT_FOREIGN.issuperset(values(scope, b"sec-fetch-site"))
        if foreign or any(not self.names.is_origin(origin, address) for origin in origins):
            return RequestRefused(403, "Pages of other origins may not call this server.")
        return None

    def _is_page(self, scope: Scope) -> bool:
        """Return True for a request of a public page."""
        return scope["path"] in self.public and scope.get("method") in ("GET", "HEAD")

    def _may_be_strange(self, scope: Scope) -> bool:
        """Return True if the token is not needed, comes in the first frame, or is checked elsewhere."""
        if self.elsewhere(scope):
            return True
        if scope["type"] == "websocket":
            return not values(scope, b"authorization")
        return self._is_page(scope) or self._is_signed(scope)

    def _is_signed(self, scope: Scope) -> bool:
        """Return True for a session's output at a signed address, as chat pages show it."""
        if scope.get("method") not in ("GET", "HEAD") or not _OUTPUT.fullmatch(scope["path"]):
            return False
        return self.token.opens(scope["path"], scope["query_string"].decode("latin-1"))

    def _unknown(self, scope: Scope) -> RequestRefused | None:
        """Return a refusal if the request does not carry the token."""
        bearer, plain = values(scope, b"authorization"), values(scope, b"x-api-key")
        shown = [self._is_bearer(value) for value in bearer] + [self._is_token(value) for value in plain]
        if shown != [True]:
            return RequestRefused(
                401,
                "The token is missing or wrong, or was sent twice.",
                "Send it as: Authorization: Bearer TOKEN, or as: X-API-KEY: TOKEN",
            )
        return None

    def _is_token(self, value: str) -> bool:
        return self.token.matches(value.encode("latin-1"))

    def _is_bearer(self, value: str) -> bool:
        scheme, _, token = value.partition(" ")
        return scheme.lower() == "bearer" and self._is_token(token)

    async def _socket(
        self, scope: Scope, receive: Receive, send: Send, refused: RequestRefused | None
    ) -> None:
        if refused is not None:
            await receive()
            await answer(scope, receive, send, refused)
        elif self.elsewhere(scope):
            await self.app(scope, receive, send)
        elif values(scope, b"authorization"):
            known(scope)
            await self.app(scope, receive, send)
        elif self._strangers >= self.limits.strangers:
            await receive()
            busy = RequestRefused(429, "Too many connections have not sent the token yet.")
            await answer(scope, receive, send, busy)
        else:
            await self._introduced(scope, receive, send)

    async def _introduced(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Accept a WebSocket; pass it on if its first frame has the token and comes in time."""
        await receive()
        await send({"type": "websocket.accept"})
        self._strangers += 1
        try:
            async with asyncio.timeout(self.limits.greeting_s):
                is_known = self._is_greeting(await receive())
        except TimeoutError:
            is_known = False
        finally:
            self._strangers -= 1
        if not is_known:
            await send({"type": "websocket.close", "code": POLICY, "reason": "no token"})
            return
        await self.app(scope, _again_connecting(receive), _without_accept(send))

    def _is_greeting(self, message: Message) -> bool:
        text = message.get("text") or ""
        if len(text) > _LONGEST_GREETING:
            return False
        token = (decoded(text) or {}).get("token")
        return isinstance(token, str) and self.token.matches(token.encode("utf-8", "surrogatepass"))


def values(scope: Scope, name: bytes) -> list[str]:
    """Return every value of a header."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


# Of a body that is refused, what is left may never come, or be endless.
_HEADERS = {
    401: {"WWW-Authenticate": "Bearer"},
    408: {"Connection": "close"},
    413: {"Connection": "close"},
}


async def answer(scope: Scope, receive: Receive, send: Send, refused: RequestRefused) -> None:
    """Send a refusal as a whole answer; to a WebSocket too, where the server can do that."""
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": POLICY})
        return
    await failures.answer(refused, _HEADERS.get(refused.status))(scope, receive, send)


def _again_connecting(receive: Receive) -> Receive:
    """Return a `receive` that reports the connection again to a route, although it is accepted already."""
    connecting: list[Message] = [{"type": "websocket.connect"}]

    async def received() -> Message:
        return connecting.pop() if connecting else await receive()

    return received


def _without_accept(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "websocket.accept":
            return
        if message["type"].startswith("websocket.http.response"):
            message = {"type": "websocket.close", "code": POLICY}
        await send(message)

    return sent
