"""The protocol's parts connected, and the functions by which `terp serve` uses them."""

from collections.abc import Iterator

from fastapi import APIRouter, FastAPI, WebSocket
from starlette.types import Scope

from terp.errors import SettingsError
from terp.settings import Settings
from terp_cli.fronts.invocation import Invocation
from terp_cli.server.access import OwnNames, ServerToken, is_loopback
from terp_cli.server.bodies import type_of
from terp_cli.server.compat.client_settings import PORT, ClientSettings, Rejected, Variables
from terp_cli.server.compat.conversation import SharedConversation
from terp_cli.server.compat.entrance import Entrance
from terp_cli.server.compat.feed import Feed
from terp_cli.server.compat.routes import (
    Reachable,
    add_files,
    add_run,
    add_settings,
    add_talk,
    answer_rejected,
)
from terp_cli.server.compat.socket import CompatConnection
from terp_cli.server.openai.threads import Stateful
from terp_cli.server.sessions import Served, Sessions


class Compat:
    """The protocol's server side: one conversation, over one of the `sessions`.

    `names` are those of the server. With `unsafe`, clients may run code without approval and reach files
    outside the session's directory.
    """

    def __init__(
        self,
        sessions: Sessions,
        started: Settings,
        variables: Variables,
        token: ServerToken,
        names: OwnNames,
        *,
        unsafe: bool,
    ) -> None:
        self.entrance = Entrance(variables, token, names)
        self.wanted = ClientSettings(started, unsafe=unsafe, name=variables.id)
        self.feed = Feed(acknowledged=variables.acknowledges)
        self.conversation = SharedConversation(sessions, self.wanted, self.feed)
        self.has_files = variables.has_insecure_routes
        self.has_run = unsafe and self.has_files
        self._sessions = sessions
        self._reachable = Reachable(sessions.workspaces, anywhere=unsafe)

    def type_of(self, scope: Scope) -> str:
        """The content type that the body of a request must have: an upload is a form."""
        is_upload = (scope["method"], scope["path"]) == ("POST", "/upload")
        return "multipart/form-data" if is_upload else type_of(scope)

    def add_routes(self, app: FastAPI) -> None:
        """Add the protocol's routes to the application."""
        app.add_exception_handler(Rejected, answer_rejected)

        @app.websocket("/")
        async def talk(socket: WebSocket) -> None:
            """Exchange frames over the WebSocket."""
            limits = self._sessions.limits
            await CompatConnection(socket, self.conversation, self.entrance, limits).serve()

        routes = APIRouter(include_in_schema=False)
        add_talk(routes, self.conversation)
        add_settings(routes, self.conversation, self.wanted)
        if self.has_run:
            add_run(routes, self.conversation)
        if self.has_files:
            add_files(routes, self.conversation, self._reachable)
        app.include_router(routes)


def stateful_of(compat: Compat) -> Stateful:
    """Return the one conversation of all requests below `/openai`, which is also the protocol's."""
    shared, wanted = compat.conversation.shared, compat.wanted

    async def session() -> Served:
        listening = await shared.opened()
        if not listening.served.turns.busy:
            await shared.adapt(listening)
        return listening.served

    def switch(on: bool) -> None:
        wanted.change({"auto_run": on})

    return Stateful(session, switch if wanted.may_run_unasked else None)


DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8000
_MOST = 65_535


def address_of(call: Invocation) -> tuple[str, int]:
    """Return the address to listen on: from flags, else with `--compat` from the protocol's variables.

    Raises:
        SettingsError: a variable is no port, or a flag needs another one.
    """
    options, variables = call.options, Variables(call.environ)
    if options.compat_unsafe and not options.compat:
        raise SettingsError(["--compat-unsafe needs --compat."])
    host, port = options.host, options.port
    if options.compat:
        host = host or variables.host
        port = _port(variables.port) if port is None and variables.port else port
    return host or DEFAULT_HOST, DEFAULT_PORT if port is None else port


def compat_of(
    call: Invocation, settings: Settings, sessions: Sessions, token: ServerToken, names: OwnNames
) -> Compat | None:
    """Return the protocol's server side; None if it is not to be served."""
    if not call.options.compat:
        return None
    variables, unsafe = Variables(call.environ), call.options.compat_unsafe
    compat = Compat(sessions, settings, variables, token, names, unsafe=unsafe)
    if call.options.cwd:
        # Who names a directory means that code works there, as with Open Interpreter.
        compat.conversation.shared.cwd = "."
    return compat


def opened_by(call: Invocation, names: OwnNames, *, unasked: bool) -> Iterator[str]:
    """Yield a line for each interface that is open, and its clients."""
    if not call.options.compat:
        yield "open: /v1, the native interface and OpenAI's; no compatibility mode"
        return
    variables = Variables(call.environ)
    yield "open: /v1, the native interface and OpenAI's"
    who = (
        "any program of this machine, with any key or none"
        if is_loopback(names.host)
        else "clients with the token"
    )
    if variables.key:
        who = "clients with the key in INTERPRETER_API_KEY"
    asked = "runs unasked (auto_run)" if unasked else "waits for their go"
    yield f"open: Open Interpreter's protocol and /openai (--compat), to {who}; code {asked}"
    if call.options.compat_unsafe:
        yield "open: auto_run over the wire (--compat-unsafe): clients may run code without approval"
    if variables.has_insecure_routes:
        yield f"open: {_insecure(unsafe=call.options.compat_unsafe)} (INTERPRETER_INSECURE_ROUTES)"
    # Scripts look for these words.
    yield f"Server will run at http://{names.written}"


def _insecure(*, unsafe: bool) -> str:
    if unsafe:
        return "/run, whose code needs no approval; /upload to any file, /download of this directory"
    return "/upload and /download, of the session's directory; /run needs --compat-unsafe"


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= _MOST:
        return int(text)
    raise SettingsError([f'{PORT} is "{text}", must be a whole number, from 0 to {_MOST}.'])
