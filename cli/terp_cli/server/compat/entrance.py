"""Access to the protocol's routes: by its own key, or by the token of the server."""

import hmac
from collections.abc import Callable, Collection

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from terp.text.dataclasses import dataclass
from terp_cli.server.access import OwnNames, ServerToken, is_loopback, values
from terp_cli.server.compat.client_settings import Variables

_NATIVE = ("/v1", "/metrics", "/openapi.json")


class Entrance:
    """The access check of all routes outside the native interface.

    If no key is set, requests need none, provided that only this machine can connect; otherwise they need
    the server's token. The token is accepted in any case.
    `authenticate` can be replaced by another check of keys.
    """

    def __init__(self, variables: Variables, token: ServerToken, names: OwnNames) -> None:
        self.authenticate: Callable[[str], bool] = self._is_key
        self.strangers = 0
        """The number of WebSockets that have not sent a key yet."""
        self._variables = variables
        self._token = token
        self._names = names

    def owns(self, scope: Scope) -> bool:
        """Return True for a request to a route of the protocol; it has one WebSocket, at `/`."""
        path = scope["path"]
        if scope["type"] == "websocket":
            return bool(path == "/")
        return not any(path == native or path.startswith(f"{native}/") for native in _NATIVE)

    @property
    def has_key(self) -> bool:
        """Return True if there is a key besides the token."""
        return bool(self._variables.key)

    @property
    def asks(self) -> bool:
        """Return True if a WebSocket must send a key first, even if any key is accepted."""
        said = self._variables.requires_auth
        if not is_loopback(self._names.host):
            return True
        return self.has_key if said is None else said

    def admits(self, shown: str) -> bool:
        """Return True if `shown` is the key or the token."""
        return self._token.matches(shown.encode("utf-8", "surrogatepass")) or self.authenticate(shown)

    def admits_request(self, scope: Scope) -> bool:
        """Return True if a request has the key in a header; `/heartbeat` needs none."""
        return scope["path"] == "/heartbeat" or any(self.admits(key) for key in _shown(scope) or [""])

    def shows_key(self, scope: Scope) -> bool:
        """Return True if a WebSocket has the key in a header."""
        return any(self.admits(key) for key in _shown(scope))

    def _is_key(self, shown: str) -> bool:
        key = self._variables.key
        if not key:
            return is_loopback(self._names.host)
        return hmac.compare_digest(*(one.encode("utf-8", "surrogatepass") for one in (shown, key)))


@dataclass(eq=False)
class KeyNeeded:
    """ASGI middleware that answers requests without the key. WebSockets show it in their first frame.

    `public` are the paths of pages without session data.
    """

    app: ASGIApp
    entrance: Entrance
    public: Collection[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests with the key, and refuse the others."""
        if scope["type"] != "http" or self._may_pass(scope):
            await self.app(scope, receive, send)
            return
        await JSONResponse({"detail": "Authentication failed"}, 403)(scope, receive, send)

    def _may_pass(self, scope: Scope) -> bool:
        if not self.entrance.owns(scope):
            return True
        is_page = scope["path"] in self.public and scope["method"] in ("GET", "HEAD")
        return is_page or self.entrance.admits_request(scope)


def _shown(scope: Scope) -> list[str]:
    """Return the keys in the headers of a request: the protocol's header, or OpenAI's."""
    bearers = (value.partition(" ") for value in values(scope, b"authorization"))
    return [*values(scope, b"x-api-key"), *(key for scheme, _, key in bearers if scheme.lower() == "bearer")]
