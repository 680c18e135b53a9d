"""The server as it is attacked: with all routers that it can have, and a session to be attacked.

A router that the server gets besides those of `application` is added by `serving`.
"""

import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from terp_cli.server.routes import page
from tests.cli.server.serving import BYTES, Running, serving

PUBLIC = page.PUBLIC
"""Paths of pages that hold nothing of a session: to GET them takes no token."""
SOCKET = "WebSocket"


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
    for found in iter_route_contexts(app.routes):
        for method in found.methods or (SOCKET,):
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
            for path in self.server.sessions.ground.work.parent.rglob("*")
        }
        return [(one.id, one.transcript.last, one.turns.count) for one in served], files


@asynccontextmanager
async def attacked(folder: Path, *replies: Any, **options: Any) -> AsyncGenerator[Attacked, None]:
    async with serving(folder, *(replies or ("hello",)), **options) as server:
        session = await server.created()
        await server.client.put(f"/v1/sessions/{session}/files/a.txt", content=b"a", headers=BYTES)
        yield Attacked(server, session)
