"""Servers for tests: how they are declared, and one at an address of this machine."""

import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import uvicorn

from terp.errors import NobodyThere
from terp.events.log import EventLog
from terp.person import Person
from terp.person.dialog import UserDialog
from terp.secrets.redactor import Redactor
from terp.settings.mcp_servers import McpServer
from terp.testing import ScriptedPerson
from terp.tools.mcp.connection import ServerConnection
from terp.tools.mcp.questions import ServerQuestions
from terp.tools.mcp.servers import Servers
from terp.tools.mcp.transports import Programs
from tests.core.tools.mcp.workshop import build

HERE = Path(__file__).parent
KEY = "Bearer let-me-in"
TIME = McpServer(command=sys.executable, args=("-m", "mcp_server_time", "--local-timezone", "UTC"))
Scope = MutableMapping[str, Any]
App = Callable[[Scope, Callable[..., Any], Callable[..., Any]], Awaitable[None]]


def program(name: str, *arguments: str, **settings: Any) -> McpServer:
    """A server among these tests, by the name of its file."""
    # The library's own warnings are not what is tested.
    return McpServer(command=sys.executable, args=(str(HERE / f"{name}.py"), *arguments), **settings)


def script(code: str, **settings: Any) -> McpServer:
    """A program that is no real server."""
    return McpServer(command=sys.executable, args=("-c", code), **settings)


class Room:
    """Servers, the person who is asked, and what was said."""

    def __init__(self, tmp_path: Path, person: Person | None = None, **servers: McpServer) -> None:
        async def drawn() -> None:
            """Everything is."""

        self.log = EventLog(clock=lambda: 0.0)
        self.dialog = UserDialog(self.log, person or ScriptedPerson(), drawn)
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GIVEN": "from terp", "API_KEY": "secret"}
        redacted = Redactor().redacted
        self.programs = Programs(environ, str(tmp_path), tmp_path / "logs", redacted)
        self.servers = Servers(servers, self.programs, ServerQuestions(self.dialog).elicit)

    async def __aenter__(self) -> "Room":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.servers.aclose()

    @property
    def only(self) -> ServerConnection:
        """The one server."""
        [connection] = self.servers.connections.values()
        return connection

    async def gives(self, name: str, **given: Any) -> Any:
        """What a function of the only server gives: its value, else its parts."""
        await self.only.ready()
        answer = await self.only.ask(self.only.functions[name], given)
        return answer.get("value", answer["parts"])


@asynccontextmanager
async def at_an_address(
    *, key: str = KEY, status: int = 401, port: int = 0, refused: Collection[str] = ()
) -> AsyncGenerator[str, None]:
    """The address of the workshop over HTTP, for who has the key; others get the status.

    Requests by a method that is among the `refused` at the time get the status too.
    """
    app = build().streamable_http_app()

    async def guarded(scope: Scope, receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        headers = dict(scope.get("headers") or ())
        knows = headers.get(b"authorization", b"").decode() == key
        if scope["type"] == "http" and (not knows or scope["method"] in refused):
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        config = uvicorn.Config(guarded, ws="none", log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            try:
                yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
            finally:
                server.should_exit = True


class Nobody(ScriptedPerson):
    """Answers nothing, and types nothing."""

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        raise NobodyThere("Nobody is there.")
