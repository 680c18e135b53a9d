"""`terp mcp-server`: the server over stdio, or over HTTP, and `--watch`, which shows the ones that run."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from pathlib import Path

from mcp.server.stdio import stdio_server

from terp.errors import SettingsError, TerpError
from terp.kernels.sandbox.confinement import confinement_of
from terp.settings import Settings
from terp.settings.installation import install_extra
from terp_cli.fronts.invocation import Invocation, keep_imports
from terp_cli.mcp_server.client_session import served_settings
from terp_cli.mcp_server.clients import Clients, sockets, watchable
from terp_cli.mcp_server.tools import mcp_server
from terp_cli.terminal.sanitise import one_line

_STDIN = (
    "terp mcp-server reads the messages of a client from stdin: name it in the client's configuration "
    "(terp docs mcp-server), add --port for HTTP, or --watch to see the servers that run."
)


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
    settings = served_settings(call.settings())
    safety = _safety(call, settings)
    if over_http:
        from terp_cli.mcp_server.page import serve_http  # noqa: PLC0415  (stdio needs no HTTP server)

        return serve_http(call, settings, safety)
    keep_imports()
    return asyncio.run(_over_stdio(call, settings, safety))


async def _over_stdio(call: Invocation, settings: Settings, safety: str) -> int:
    clients = Clients(call, settings)
    server = mcp_server(clients.of, call.cwd, safety)
    watched = asyncio.Lock()

    @asynccontextmanager
    async def page() -> AsyncGenerator[str, None]:
        if watched.locked():
            raise TerpError("Somebody watches this server already.")
        async with watched:
            try:
                from terp_cli.mcp_server.page import open_page  # noqa: PLC0415  (most servers are not watched)
            except ModuleNotFoundError as missing:
                raise TerpError(f"The page needs packages: {install_extra('server')}") from missing
            async with open_page(call, settings, clients) as address:
                yield address

    async def end() -> None:
        await clients.aclose()
        # A thread of the library waits for a line of stdin, which may never come.
        os._exit(call.stopping.code or 0)

    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(page()) if call.options.watch else ""
        if address:
            call.say(f"page: {address}")
        shown = watchable(call, clients, lambda: nullcontext(address) if address else page())
        await stack.enter_async_context(shown)
        stack.push_async_callback(clients.aclose)
        with call.stopping.watching(end, end):
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())
    return 0


async def _watch(call: Invocation) -> int:
    """Print the pages of all servers that run here, and keep them open until they end."""
    found = await asyncio.gather(*map(_greeted, sockets(call.places).glob("mcp-*.sock")))
    streams = list(filter(None, found))
    if not streams:
        call.say("no terp mcp-server runs here; an MCP client starts one with its first conversation.")
        return 1
    for reader, _ in streams:
        call.out.write(one_line((await reader.readline()).decode().rstrip()) + "\n")
    call.out.flush()
    call.note("The pages are there until Ctrl-C.")
    await asyncio.gather(*(reader.read() for reader, _ in streams))
    return 0


async def _greeted(path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    try:
        return await asyncio.open_unix_connection(path)
    except OSError:
        # Its server was killed.
        path.unlink(missing_ok=True)  # noqa: ASYNC240  (one call)
        return None


def _safety(call: Invocation, settings: Settings) -> str:
    """Return a sentence on the sandbox and on what the user is asked, after testing it.

    Raises:
        NoSandbox: a sandbox is required, and none works here.
    """
    if settings.gateway_url or settings.attach:
        return "Sandbox: none, the kernels run elsewhere; the user is asked before code runs."
    confinement = confinement_of(settings, call.cwd, call.environ)
    confinement.check()
    asks = "the user is asked before code runs"
    if settings.auto_run:
        asks = "code runs without a question"
    elif confinement.at_once:
        asks = "the user is asked when code changes or deletes files it has not made, or uses the network"
    return f"Sandbox: {confinement.what}; {asks}."
