"""The sessions of the clients of one server, and the socket through which `--watch` finds them."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from mcp import MCPError, types
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from terp.errors import TerpError, with_remedy
from terp.settings import Settings
from terp.settings.places import Places
from terp.text.files import make_private
from terp_cli.fronts.invocation import Invocation
from terp_cli.mcp_server.client_session import ClientSession, open_client_session
from terp_cli.mcp_server.tools import Context
from terp_cli.terminal.sanitise import one_line

SESSION_HEADER = "mcp-session-id"


class Clients:
    """The sessions of the clients: one over stdio, over HTTP one for each session of the protocol.

    `opened` is called with each of them before its first code.
    """

    def __init__(self, call: Invocation, settings: Settings) -> None:
        self.open: dict[str, ClientSession] = {}
        self.opened: Callable[[ClientSession], Awaitable[None]] = nobody_looks
        self._call, self._settings = call, settings
        self._opening = asyncio.Lock()

    async def of(self, ctx: Context) -> ClientSession:
        """Return the session of the client that sent a request; the first request opens it."""
        key = "" if ctx.request is None else ctx.request.headers.get(SESSION_HEADER, "")
        if ctx.request is not None and not key:
            newest = HANDSHAKE_PROTOCOL_VERSIONS[-1]
            what = f"A kernel lives as long as a session of MCP: begin with initialize, version {newest}."
            raise MCPError(types.INVALID_REQUEST, what)
        async with self._opening:
            if key not in self.open or self.open[key].is_closed():
                info = ctx.session.client_params
                name = one_line(info.client_info.name)[:40] if info else "client"
                client = await open_client_session(self._call, self._settings, name)
                await self.opened(client)
                self.open[key] = client
            return self.open[key]

    async def close(self, key: str) -> None:
        """Close the session of a client that has left."""
        if (client := self.open.pop(key, None)) is not None:
            await client.aclose()

    async def aclose(self) -> None:
        """Close all sessions."""
        await asyncio.gather(*map(self.close, list(self.open)))


async def nobody_looks(_: ClientSession) -> None:
    """Do nothing: no page is open."""


def sockets(places: Places) -> Path:
    """Return the folder with a socket for each server that runs; only its owner can enter it."""
    return places.state / "servers"


@asynccontextmanager
async def watchable(
    call: Invocation, clients: Clients, watched: Callable[[], AbstractAsyncContextManager[str]]
) -> AsyncGenerator[None, None]:
    """Answer `terp mcp-server --watch` during the block: with the page that `watched` opens for it."""
    greeting: list[asyncio.Task[None]] = []

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        names = ", ".join(one.session.model.name for one in clients.open.values()) or "no client yet"
        try:
            async with watched() as address:
                writer.write(f"{names} in {call.cwd}: {address}\n".encode())
                # The page is there until the watcher leaves.
                await reader.read()
        except TerpError as error:
            writer.write(f"{with_remedy(error.message, error.remedy)}\n".encode())
        finally:
            writer.close()

    path = make_private(sockets(call.places)) / f"mcp-{os.getpid()}.sock"
    try:
        path.unlink(missing_ok=True)
        # asyncio would report each of its own tasks that is cancelled.
        server = await asyncio.start_unix_server(
            lambda *streams: greeting.append(asyncio.create_task(greet(*streams))), path
        )
    except OSError as error:
        # The path may be too long for a socket.
        call.note(f"--watch will not find this server: {error}.")
        yield
        return
    try:
        yield
    finally:
        server.close()
        path.unlink(missing_ok=True)
        for task in greeting:
            task.cancel()
        await asyncio.gather(*greeting, return_exceptions=True)
