"""The page of `terp serve` over the sessions of MCP clients, and MCP over HTTP beside it."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from terp.errors import TerpError
from terp.settings import Settings
from terp_cli.fronts.invocation import Invocation
from terp_cli.mcp_server.client_session import SESSION_HEADER, Asking, Clients, ClientSession
from terp_cli.mcp_server.serving import watchable
from terp_cli.mcp_server.tools import mcp_server
from terp_cli.server.access import OwnNames, ServerToken, values
from terp_cli.server.failures import RequestRefused
from terp_cli.server.opening import OpenedSession
from terp_cli.server.person import RemotePerson, Subscribers
from terp_cli.server.serving import HttpServer, ServedParts, assembled, listening, serve


async def show_clients(parts: ServedParts, settings: Settings, clients: Clients) -> None:
    """Show the sessions of clients on the page from now on; users who follow one are asked there."""

    async def show(client: ClientSession) -> None:
        remote = RemotePerson(Subscribers(parts.sessions.limits.patience_s))
        cwd = Path(client.session.kernels.cwd)
        opened = OpenedSession(client.session, cwd, settings, settings.profile, settings.auto_run)
        served = await parts.sessions.add(opened, remote)

        async def play(asking: Asking) -> None:
            try:
                await served.ask(asking).ending()
            except RequestRefused as refused:
                raise TerpError(refused.problem.message) from refused

        async def end() -> None:
            with suppress(RequestRefused):
                await parts.sessions.close(served.id)

        client.play, client.end, client.is_closed = play, end, lambda: served.closed
        client.person.watcher = lambda: remote if remote.subscribers.following else None

    clients.opened = show
    for client in clients.open.values():
        await show(client)


@asynccontextmanager
async def open_page(call: Invocation, settings: Settings, clients: Clients) -> AsyncGenerator[str, None]:
    """Serve a page on a free port of this machine during the block; yield its address, with a token."""
    token = ServerToken(secrets.token_urlsafe(32))
    with listening("127.0.0.1", 0, remote=False) as taken:
        names = OwnNames("127.0.0.1", int(taken.getsockname()[1]))
        parts = assembled(call, settings, token, names, quiet=True)
        server = HttpServer(parts.app, parts.sessions.limits)
        serving = asyncio.create_task(server.serve(sockets=[taken]))
        try:
            await show_clients(parts, settings, clients)
            newest = f"&session={parts.sessions.open[-1].id}" if parts.sessions.open else ""
            yield f"{parts.address}/#token={token.reveal()}{newest}"
        finally:
            server.should_exit = True
            await serving


def serve_http(call: Invocation, settings: Settings, safety: str) -> int:
    """Serve clients beside all that `terp serve` serves, with its token; return the exit code."""

    @asynccontextmanager
    async def beside(parts: ServedParts) -> AsyncGenerator[None, None]:
        clients = Clients(call, settings)
        mcp = mcp_server(clients.of, call.cwd, safety)
        # terp's own middleware has checked Host, Origin and the token.
        idle_s, most = call.options.idle_timeout or None, parts.sessions.limits.sessions
        manager = StreamableHTTPSessionManager(mcp, session_idle_timeout=idle_s, max_sessions=most)
        parts.app.router.routes.append(Route("/mcp", _Endpoint(manager, clients)))
        call.say(f"mcp: {parts.address}/mcp")
        await show_clients(parts, settings, clients)

        async def address() -> str:
            return parts.address

        async with watchable(call, clients, address), manager.run():
            yield

    return serve(call, settings=settings, beside=beside)


class _Endpoint:
    """The route of MCP: a client that ends its session ends its kernels."""

    def __init__(self, manager: StreamableHTTPSessionManager, clients: Clients) -> None:
        self._manager, self._clients = manager, clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._manager.handle_request(scope, receive, send)
        if scope["method"] == "DELETE":
            for key in values(scope, SESSION_HEADER.encode()):
                await self._clients.close(key)
