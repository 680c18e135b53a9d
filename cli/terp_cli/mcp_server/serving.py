"""`terp mcp-server`: the server over stdio, or over HTTP, and `--watch`, which shows the ones that run."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from pathlib import Path

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
        from terp_cli.mcp_server.page import serve_http  # noqa: PLC0415  (stdio needs no HTTP server)

        return serve_http(call, settings, safety)
    keep_imports()
    return asyncio.run(_over_stdio(call, settings, safety))


async def _over_stdio(call: Invocation, settings: Settings, safety: str) -> int:
    clients, watched = Clients(call, settings), asyncio.Lock()
    server = mcp_server(clients.of, call.cwd, safety)

    @asynccontextmanager
    async def page() -> AsyncGenerator[str, None]:
        if watched.locked():
            raise TerpError("Another terp mcp-server --watch shows this server already.")
        try:
            from terp_cli.mcp_server.page import open_page  # noqa: PLC0415  (most servers are not watched)
        except ModuleNotFoundError as missing:
            needs = f"The page needs packages that are not installed: {install_extra('server')}"
            raise TerpError(needs) from missing
        async with watched, open_page(call, settings, clients) as address:
            yield address

    async def end() -> None:
        await clients.aclose()
        # A thread of the library waits for a line of stdin, which may never come.
        os._exit(call.stopping.code or 0)

    async with AsyncExitStack() as stack:
        if address := await stack.enter_async_context(page()) if call.options.watch else "":
            call.say(f"page: {address}")
        shown = watchable(call, clients, lambda: nullcontext(address) if address else page())
        await stack.enter_async_context(shown)
        stack.push_async_callback(clients.aclose)
        with call.stopping.watching(end, end):
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())
    return 0


def _sockets(call: Invocation) -> Path:
    """Return the folder with a socket for each server that runs; only its owner can enter it."""
    return make_private(call.places.state / "servers")


@asynccontextmanager
async def watchable(
    call: Invocation, clients: Clients, watched: Callable[[], AbstractAsyncContextManager[str]]
) -> AsyncGenerator[None, None]:
    """Answer `terp mcp-server --watch` during the block: with the page that `watched` opens for it."""
    greeting: list[asyncio.Task[None]] = []

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        names = ", ".join(one.model.client for one in clients.open.values()) or "no client yet"
        try:
            async with watched() as address:
                writer.write(f"{names} in {call.cwd}: {address}\n".encode())
                # The page is there until the watcher leaves.
                await reader.read()
        except TerpError as error:
            writer.write(f"{with_remedy(error.message, error.remedy)}\n".encode())
        finally:
            writer.close()

    def greeted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # asyncio would report each of its own tasks that is cancelled.
        greeting.append(asyncio.create_task(greet(reader, writer)))

    path = _sockets(call) / f"mcp-{os.getpid()}.sock"
    try:
        server = await asyncio.start_unix_server(greeted, path)
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


async def _watch(call: Invocation) -> int:
    """Print the pages of all servers that run here, and keep them open until they end."""
    streams = []
    for path in _sockets(call).glob("mcp-*.sock"):
        try:
            streams.append(await asyncio.open_unix_connection(path))
        except OSError:
            # Its server was killed.
            path.unlink(missing_ok=True)
    if not streams:
        call.say("no terp mcp-server runs here; an MCP client starts one with its first conversation.")
        return 1
    for reader, _ in streams:
        call.out.write(one_line((await reader.readline()).decode().rstrip()) + "\n")
    call.out.flush()
    call.note("The pages are there until Ctrl-C.")
    await asyncio.gather(*(reader.read() for reader, _ in streams))
    return 0


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
