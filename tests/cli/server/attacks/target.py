"""The server as it is attacked: with all routers that it can have, and a session to be attacked.

A router that the server gets besides those of `application` is added by `serving`.
"""

import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, routing

from terp.settings import Settings
from terp_cli.server.access import OwnNames, ServerToken
from terp_cli.server.compat.client_settings import Variables
from terp_cli.server.compat.compat import Compat
from terp_cli.server.sessions import Sessions
from tests.cli.server.serving import BYTES, TOKEN, Running, serving

"""Paths of pages that hold nothing of a session: to GET them takes no token."""
SOCKET = "WebSocket"
KEY = "the-key-of-the-protocol"
OWN, SPOKEN, UNSAFE = "native", "compat", "compat-unsafe"
"""A server without the protocol of Open Interpreter, one with it, and one with all that it can open."""
BOTH = pytest.mark.parametrize("kind", [OWN, UNSAFE])
_OF_NATIVE = re.compile("/(v1|metrics|openapi.json)(/.*)?")


@dataclass(frozen=True)
class Route:
    """A way in. `method` is that of HTTP, or `SOCKET`; `path` has its parts in braces."""

    method: str
    path: str

    def filled(self, **parts: str) -> str:
        """The path with these parts, and "x" in place of any other one."""
        return re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: parts.get(found[1], "x"), self.path)

    @property
    def parts(self) -> list[str]:
        return re.findall(r"\{(\w+)", self.path)

    @property
    def is_native(self) -> bool:
        """Whether the token is asked for even where the protocol has its own key."""
        return _OF_NATIVE.fullmatch(self.path) is not None

    @property
    def content(self) -> str:
        """The type that its bodies must have."""
        if (self.method, self.path) == ("POST", "/upload"):
            return "multipart/form-data; boundary=x"
        return "application/octet-stream" if self.method == "PUT" else "application/json"

    @property
    def changes(self) -> bool:
        """Whether it is there to change something."""
        return self.method not in ("GET", "HEAD", SOCKET)


def routes(app: FastAPI) -> list[Route]:
    """Every route of an application, and some that it does not have."""
    return [*_of(app), Route("GET", "/docs"), Route("GET", "/redoc"), Route("GET", "/nothing")]


def http_routes(app: FastAPI) -> list[Route]:
    return [route for route in routes(app) if route.method != SOCKET]


def socket_routes(app: FastAPI) -> list[Route]:
    return [route for route in routes(app) if route.method == SOCKET]


def _of(app: FastAPI) -> Iterator[Route]:
    # FastAPI before 0.138 has a flat list; 0.138 has the path of a socket only in Starlette's route.
    contexts = getattr(routing, "iter_route_contexts", iter)
    for context in contexts(app.routes):
        found: Any = getattr(context, "starlette_route", None) or context
        for method in getattr(found, "methods", None) or (SOCKET,):
            yield Route(method, str(found.path))


@dataclass(frozen=True)
class Attacked:
    """A server that runs, and the id of a session in which a turn was had and a file lies, `a.txt`."""

    server: Running
    session: str

    @property
    def app(self) -> FastAPI:
        return self.server.app

    @property
    def port(self) -> int:
        return self.server.port

    def path(self, route: Route) -> str:
        """A path of this route that leads to something."""
        return route.filled(session=self.session, path="a.txt", output="1")

    def state(self) -> Any:
        """What an attack must leave as it is."""
        served = self.server.sessions.open
        files = {
            str(path): path.read_bytes() if path.is_file() else b""
            for path in self.server.sessions.workspaces.work.parent.rglob("*")
        }
        turns = [(one.id, one.transcript.last, one.turns.count) for one in served]
        return turns, files, *self._spoken()

    def _spoken(self) -> list[Any]:
        compat = self.server.compat
        if compat is None:
            return []
        wanted = compat.wanted
        return [list(compat.conversation.messages), wanted.settings, dict(wanted.kept), dict(wanted.computer)]

    def refusal(self, route: Route) -> tuple[int, str]:
        """What a stranger is told there: the status, and a part of the answer."""
        if self.server.compat is None or route.is_native:
            return 401, '"no_token"'
        return 403, "Authentication failed"


def compat(
    kind: str, *, key: str = KEY, alone: bool = True, auto_run: bool = False
) -> Callable[[Sessions], Compat] | None:
    """What adds the protocol to a server of this kind, with `/upload`, `/download` and maybe `/run`."""
    environ = {"INTERPRETER_INSECURE_ROUTES": "true", "INTERPRETER_API_KEY": key}

    def made(sessions: Sessions) -> Compat:
        settings, variables = Settings(auto_run=auto_run), Variables(environ)
        names = OwnNames("127.0.0.1" if alone else "0.0.0.0", 0)
        return Compat(sessions, settings, variables, ServerToken(TOKEN), names, unsafe=kind == UNSAFE)

    return None if kind == OWN else made


@asynccontextmanager
async def attacked(
    folder: Path, *replies: Any, kind: str = OWN, **options: Any
) -> AsyncGenerator[Attacked, None]:
    options.setdefault("compat", compat(kind))
    async with serving(folder, *(replies or ("hello",)), **options) as server:
        session = await server.created()
        await server.client.put(f"/v1/sessions/{session}/files/a.txt", content=b"a", headers=BYTES)
        yield Attacked(server, session)
