"""The page of `terp serve` over the sessions of MCP clients, for the users who watch them."""

import asyncio
import secrets
import socket
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from terp.errors import TerpError
from terp.events import Event
from terp.person import Person
from terp.secrets.known_secrets import Secrets
from terp.session.session import Session
from terp.settings import Settings
from terp_cli.fronts.invocation import Invocation, keep_imports
from terp_cli.mcp_server.client_session import Asking, ClientSession
from terp_cli.mcp_server.clients import SESSION_HEADER, Clients, nobody_looks, watchable
from terp_cli.mcp_server.tools import Context, mcp_server
from terp_cli.server.access import TOKEN_VARIABLE, OwnNames, ServerToken, token_of, values, written
from terp_cli.server.compat.compat import address_of
from terp_cli.server.connections import ServerLimits
from terp_cli.server.failures import RequestRefused
from terp_cli.server.opening import OpenedSession, SettingsOpener
from terp_cli.server.person import RemotePerson, Subscribers
from terp_cli.server.serving import HttpServer, application, lines_to, listening
from terp_cli.server.sessions import Sessions
from terp_cli.server.workspaces import Workspaces


class ClientsPage:
    """The application, and the sessions that it shows. Users answer questions there, and type `>>>`."""

    def __init__(self, call: Invocation, settings: Settings, token: ServerToken, names: OwnNames) -> None:
        self.limits = ServerLimits(sessions=call.options.max_sessions, idle_s=call.options.idle_timeout)
        self._call, self._settings, self._token, self._names = call, settings, token, names
        workspaces = Workspaces(call.cwd, call.places)
        opener = SettingsOpener(
            lambda: settings,
            lambda profile: call.loaded(call.line.given, profile, None).settings,
            workspaces,
            call.environ,
            token,
            lambda: call.options.api_key,
        )
        self.sessions = Sessions(opener, workspaces, self.limits)
        hidden = Secrets({**call.environ, TOKEN_VARIABLE: token.reveal()}, settings, call.options.api_key)
        log = lines_to(call.notes.write, hidden.redactor(), quiet=True)
        self.app: FastAPI = application(self.sessions, token, names, self.limits, log=log)

    @property
    def address(self) -> str:
        """The address to open in a browser: it shows the newest session of a client."""
        shown = f"&session={self.sessions.open[-1].id}" if self.sessions.open else ""
        host = f"[{self._names.host}]" if ":" in self._names.host else self._names.host
        return f"http://{host}:{self._names.port}/#token={self._token.reveal()}{shown}"

    async def add(self, client: ClientSession) -> None:
        """Show the session of a client; users who follow it are asked, as long as there are any.

        Raises:
            TerpError: too many sessions are open.
        """
        subscribers = Subscribers(self.limits.patience_s)
        remote = RemotePerson(subscribers)
        opened = OpenedSession(
            client.session,
            Path(client.session.kernels.cwd),
            self._settings,
            self._settings.profile,
            self._settings.auto_run,
        )
        try:
            served = await self.sessions.add(opened, remote, subscribers)
        except RequestRefused as refused:
            raise TerpError(refused.problem.message, refused.problem.remedy) from refused

        async def play(asking: Asking) -> None:
            try:
                await served.ask(asking).ending()
            except RequestRefused as refused:
                raise TerpError(refused.problem.message, refused.problem.remedy) from refused

        async def end() -> None:
            with suppress(RequestRefused):
                await self.sessions.close(served.id)

        def watching() -> Person | None:
            return remote if subscribers.following else None

        # Turns of the page wait for the one that is running now.
        served.ask(_until_idle)
        client.play, client.end, client.person.watcher = play, end, watching
        client.is_closed = lambda: served.closed


@asynccontextmanager
async def open_page(call: Invocation, settings: Settings, clients: Clients) -> AsyncGenerator[str, None]:
    """Serve a page on a free port of this machine during the block; yield its address, with a token."""
    with listening("127.0.0.1", 0, remote=False) as taken:
        names = OwnNames("127.0.0.1", int(taken.getsockname()[1]))
        page = ClientsPage(call, settings, ServerToken(secrets.token_urlsafe(32)), names)
        for client in clients.open.values():
            await page.add(client)
        clients.opened = page.add
        server = HttpServer(page.app, page.limits)
        serving = asyncio.create_task(server.serve(sockets=[taken]))
        try:
            yield page.address
        finally:
            clients.opened = nobody_looks
            for client in clients.open.values():
                client.unwatch()
            server.should_exit = True
            await serving


def serve_http(call: Invocation, settings: Settings, safety: str) -> int:
    """Serve clients and the page at one port, with the token of `terp serve`; return the exit code."""
    folder = call.places.state / "servers"
    token, is_ours = token_of(call.environ, folder if call.options.keep_token else None)
    call.secrets = Secrets({**call.environ, TOKEN_VARIABLE: token.reveal()}, settings, call.options.api_key)
    host, port = address_of(call)
    with listening(host, port, remote=call.options.allow_remote) as taken, ExitStack() as stack:
        port = int(taken.getsockname()[1])
        file = stack.enter_context(written(token, folder, port)) if is_ours else None
        page = ClientsPage(call, settings, token, OwnNames(host, port))
        call.say(f"serving {page.address.partition('#')[0]}mcp")
        call.say(f"token: {f'in {file}' if file else f'that of {TOKEN_VARIABLE}'}")
        if file and call.notes.isatty():
            call.say(f"page: {page.address}")
        call.say(safety)
        keep_imports()
        return asyncio.run(_over_http(call, settings, safety, page, taken))


async def _over_http(
    call: Invocation, settings: Settings, safety: str, page: ClientsPage, taken: socket.socket
) -> int:
    clients = Clients(call, settings)
    clients.opened = page.add
    mcp = mcp_server(clients.of, call.cwd, safety)
    mcp.add_request_handler("server/discover", types.RequestParams, partial(_discovered, mcp))
    idle_s = call.options.idle_timeout or None
    # terp's own middleware has checked Host, Origin and the token.
    manager = StreamableHTTPSessionManager(
        mcp, session_idle_timeout=idle_s, max_sessions=page.limits.sessions
    )
    page.app.router.routes.append(Route("/mcp", _Endpoint(manager, clients)))
    server = HttpServer(page.app, page.limits)

    async def end() -> None:
        await page.sessions.aclose()
        server.should_exit = True

    with call.stopping.watching(end, end):
        async with watchable(call, clients, lambda: nullcontext(page.address)), manager.run():
            await server.serve(sockets=[taken])
    return 0


class _Endpoint:
    """The route of MCP: a client that ends its session ends its kernels."""

    def __init__(self, manager: StreamableHTTPSessionManager, clients: Clients) -> None:
        self._manager = manager
        self._clients = clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._manager.handle_request(scope, receive, send)
        if scope["method"] == "DELETE":
            for key in values(scope, SESSION_HEADER.encode()):
                await self._clients.close(key)


async def _discovered(mcp: Server[Any], _: Context, __: types.RequestParams | None) -> types.DiscoverResult:
    """Return only the versions of the protocol that have sessions: kernels live as long as they do."""
    return types.DiscoverResult(
        supported_versions=list(HANDSHAKE_PROTOCOL_VERSIONS), capabilities=mcp.get_capabilities()
    )


async def _until_idle(session: Session) -> AsyncGenerator[Event, None]:
    await session.idle()
    return
    yield
