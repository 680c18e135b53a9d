"""`terp mcp-server`: the server over stdio, or over HTTP, and `--watch`, which names the pages of servers."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import ModuleType

from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server

from terp.errors import SettingsError, TerpError, with_remedy
from terp.kernels.sandbox.confinement import confinement_of
from terp.settings import Settings
from terp.settings.installation import install_extra
from terp.text.files import make_private
from terp_cli.fronts.invocation import Invocation, keep_imports
from terp_cli.mcp_server.client_session import Clients, served_settings
from terp_cli.mcp_server.tools import mcp_server
from terp_cli.terminal.sanitise import one_line

_STDIN = "an MCP client starts terp mcp-server (terp docs mcp-server); add --port for HTTP, or --watch."


def serve_mcp(call: Invocation) -> int:
    """Serve until the client leaves, or a signal; return the exit code.

    Raises:
        TerpError: the settings cannot be fulfilled, or packages of the server are missing.
    """
    over_http = call.options.port is not None or bool(call.options.host)
    if call.source == "terminal" and not over_http:
        if call.options.watch:
            return asyncio.run(_watch(call))
        raise SettingsError([_STDIN])
    settings = served_settings(call, over_http=over_http)
    safety = _safety(call, settings)
    if over_http:
        return int(_pages().serve_http(call, settings, safety))
    keep_imports()
    return asyncio.run(_over_stdio(call, settings, safety))


def _pages() -> ModuleType:
    """Import the page; most servers over stdio are not watched.

    Raises:
        TerpError: its packages are missing.
    """
    try:
        from terp_cli.mcp_server import page  # noqa: PLC0415  (see above)
    except ModuleNotFoundError as missing:
        needs = f"HTTP and the page need packages that are not installed: {install_extra('server')}"
        raise TerpError(needs) from missing
    return page


async def _over_stdio(call: Invocation, settings: Settings, safety: str) -> int:
    clients, opening, addresses = Clients(call, settings), asyncio.Lock(), list[str]()
    server = mcp_server(clients.of, call.cwd, safety)

    async def address() -> str:
        async with opening:
            if not addresses:
                page = _pages().open_page(call, settings, clients)
                addresses.append(await stack.enter_async_context(page))
        return addresses[0]

    async def end() -> None:
        await clients.aclose()
        # A thread of the library waits for a line of stdin, which may never come.
        os._exit(call.stopping.code or 0)

    async with AsyncExitStack() as stack:
        stack.push_async_callback(clients.aclose)
        if call.options.watch:
            call.say(f"page: {await address()}")
        with call.stopping.watching(end, end):
            async with watchable(call, clients, address), stdio_server() as (read, write):
                # `Server.run` also serves versions without sessions, of which no kernel would end.
                await serve_loop(server, read, write, lifespan_state={})
    return 0


def _sockets(call: Invocation) -> Path:
    """Return the folder with a socket for each server that runs; only its owner can enter it."""
    return make_private(call.places.state / "servers")


@asynccontextmanager
async def watchable(
    call: Invocation, clients: Clients, address: Callable[[], Awaitable[str]]
) -> AsyncGenerator[None, None]:
    """Answer `terp mcp-server --watch` during the block, with the `address` of the page."""

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            page = await address()
            names = ", ".join(one.model.client for one in clients.open.values()) or "no client yet"
            said = f"{names} in {call.cwd}: {page}"
        except TerpError as error:
            said = with_remedy(error.message, error.remedy)
        writer.write(f"{one_line(said)}\n".encode())
        writer.close()

    path = _sockets(call) / f"mcp-{os.getpid()}.sock"
    try:
        server = await asyncio.start_unix_server(greet, path)
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


async def _watch(call: Invocation) -> int:
    """Print the pages of all servers that run here."""
    found = 0
    for path in _sockets(call).glob("mcp-*.sock"):
        try:
            reader, writer = await asyncio.open_unix_connection(path)
        except OSError:
            # Its server was killed.
            path.unlink(missing_ok=True)
            continue
        found += 1
        call.out.write((await reader.readline()).decode())
        writer.close()
    if not found:
        call.say("no terp mcp-server runs here; an MCP client starts one with its first conversation.")
    return 0 if found else 1


def _safety(call: Invocation, settings: Settings) -> str:
    """Return a sentence on the sandbox and on what the user is asked, after testing it.

    Raises:
        NoSandbox: a sandbox is required, and none works here.
    """
    asks, confinement = "the user is asked before code runs", confinement_of(settings, call.cwd, call.environ)
    if settings.gateway_url or settings.attach:
        return f"Sandbox: none, the kernels run elsewhere; {asks}."
    confinement.check()
    if settings.auto_run or confinement.at_once:
        at_effects = (
            "the user is asked when code changes or deletes files it has not made, or uses the network"
        )
        asks = "code runs without a question" if settings.auto_run else at_effects
    return f"Sandbox: {confinement.what}; {asks}."
