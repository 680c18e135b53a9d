"""`terp serve`: one server process, from its settings to its end."""

import asyncio
import errno
import json
import logging
import socket
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from terp import __version__
from terp.errors import SettingsError
from terp.kernels.sandbox.confinement import confinement_of
from terp.kernels.sandbox.tier import is_confined
from terp.models.adapters.discovery import keyed_models
from terp.models.adapters.embeddings import embeddings
from terp.settings import Settings
from terp.settings.project.files import bare_project
from terp.text.dataclasses import dataclass
from terp_cli.fronts.invocation import Invocation, keep_imports
from terp_cli.server import failures
from terp_cli.server.access import (
    TOKEN_VARIABLE,
    Access,
    OwnNames,
    ServerToken,
    is_loopback,
    token_of,
    written,
)
from terp_cli.server.bodies import Bodies, type_of
from terp_cli.server.compat.compat import address_of, compat_of, opened_by, stateful_of
from terp_cli.server.compat.entrance import KeyNeeded
from terp_cli.server.connections import BoundedWebSocket, Http, ServerLimits, allow_descriptors
from terp_cli.server.native.code import code_router
from terp_cli.server.native.files import files_router, results_router
from terp_cli.server.native.sessions import (
    answers_router,
    rewind_router,
    server_router,
    sessions_router,
    socket_router,
    turns_router,
)
from terp_cli.server.openai import routes as openai
from terp_cli.server.opening import SettingsOpener
from terp_cli.server.page.document import PUBLIC, page_router
from terp_cli.server.sessions import Sessions
from terp_cli.server.workspaces import Workspaces

if TYPE_CHECKING:
    from terp.secrets.redactor import Redactor
    from terp_cli.server.compat.compat import Compat

_BACKLOG = 512
# Files and sockets that a session with its kernels takes, and some to spare.
_OF_A_SESSION = 40


Line = Callable[[dict[str, Any]], None]


@dataclass(eq=False)
class RequestLog:
    """ASGI middleware that calls `line` for each request at its end."""

    app: ASGIApp
    line: Line

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and log it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def sent(message: Message) -> None:
            nonlocal status
            status = _status(message) or status
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except BaseException:
            status = status or 500
            raise
        finally:
            self.line(
                {
                    "method": scope.get("method", "WS"),
                    "path": scope["path"][:300],
                    "status": status,
                    "ms": round((time.monotonic() - began) * 1e3, 1),
                }
            )


def _status(message: Message) -> int:
    match message:
        case {"type": "http.response.start" | "websocket.http.response.start", "status": int(status)}:
            return status
        case {"type": "websocket.accept"}:
            return 101
        case {"type": "websocket.close", "code": int(code)}:
            return code
    return 0


class JsonLines(logging.Handler):
    """Handler that writes log records as lines: those of the HTTP server, and failures of terp's code."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        fields = {"level": record.levelname.lower(), "message": record.getMessage()}
        if trace:
            fields["traceback"] = trace
        self._line(fields)


def lines_to(write: Callable[[str], object], redactor: "Redactor", *, quiet: bool) -> Line:
    """Return a writer of redacted lines with their time; with `quiet`, only of failures."""

    def line(fields: dict[str, Any]) -> None:
        if quiet and fields.get("status", 500) < 500:
            return
        # A path can hold a secret, too: somebody has put it into an address.
        write(json.dumps({"time": round(time.time(), 3), **redactor.redacted_value(fields)}) + "\n")

    return line


def serve(call: Invocation, *, settings: Settings | None = None, beside: "Beside" = nullcontext) -> int:
    """Serve until a signal, and `beside` it what else there is; return the exit code."""
    settings = settings or call.settings()
    folder = call.places.state / "servers"
    token, is_ours = token_of(call.environ, folder if call.options.keep_token else None)
    confined = sandbox_line(settings, call.cwd, call.environ)
    host, port = address_of(call)
    with listening(host, port, remote=call.options.allow_remote) as taken, ExitStack() as stack:
        port = int(taken.getsockname()[1])
        file = stack.enter_context(written(token, folder, port)) if is_ours else None
        names = OwnNames(host, port)
        _announce(call, settings, names, token, file, confined)
        keep_imports()
        return asyncio.run(_served(call, settings, token, names, taken, beside))


@dataclass(frozen=True)
class ServedParts:
    """The parts of a server: its application, and the sessions that it serves."""

    app: FastAPI
    sessions: Sessions
    log: Line
    address: str


Beside = Callable[[ServedParts], AbstractAsyncContextManager[object]]


def assembled(
    call: Invocation, settings: Settings, token: ServerToken, names: OwnNames, *, quiet: bool
) -> ServedParts:
    """Return the parts of a server with these settings; the call redacts its token from now on.

    With `quiet` only failures are logged.
    """
    limits = ServerLimits(sessions=call.options.max_sessions, idle_s=call.options.idle_timeout)
    allow_descriptors(limits.connections + _OF_A_SESSION * limits.sessions)
    workspaces = Workspaces(call.cwd, call.places)
    opener = SettingsOpener(
        lambda: settings,
        # Nothing of a project counts: nobody was asked about it.
        lambda profile: call.loaded(call.line.given, profile, bare_project(call.cwd)).settings,
        workspaces,
        call.environ,
        token,
        lambda: call.options.api_key,
    )
    sessions = Sessions(opener, workspaces, limits)
    call.secrets = opener.secrets(settings)
    # stderr is written line by line.
    line = lines_to(call.notes.write, call.secrets.redactor(), quiet=quiet)
    compat = compat_of(call, settings, sessions, token, names)
    app = application(sessions, token, names, log=line, compat=compat)
    embed = partial(embeddings, settings=settings, environ=call.environ, api_key=call.options.api_key)
    stateful = stateful_of(compat) if compat else None
    app.include_router(
        openai.router(sessions, model=settings.model, embed=embed, stateful=stateful, sign=token.signature)
    )
    return ServedParts(app, sessions, line, f"http://{names.written}")


async def _served(
    call: Invocation,
    settings: Settings,
    token: ServerToken,
    names: OwnNames,
    taken: socket.socket,
    beside: Beside,
) -> int:
    parts = assembled(call, settings, token, names, quiet=call.options.quiet)
    # It takes a fifth of a second, in which nothing else would be answered.
    parts.app.openapi()
    server = HttpServer(parts.app, parts.sessions.limits)

    async def end() -> None:
        await parts.sessions.aclose()
        server.should_exit = True

    with _logging(JsonLines(parts.log)), call.stopping.watching(end, _nothing):
        async with beside(parts):
            await server.serve(sockets=[taken])
    # A server has no other end than by a signal: service managers take anything but 0 for a failure.
    return 0


class HttpServer(uvicorn.Server):
    """uvicorn with the limits of this server; terp handles its signals."""

    def __init__(self, app: FastAPI, limits: ServerLimits) -> None:
        config = uvicorn.Config(
            app,
            # Which parser takes a request is part of what was tested, so not whatever is installed.
            http=cast("type[asyncio.Protocol]", partial(Http, head_s=limits.greeting_s)),
            ws=cast("type[asyncio.Protocol]", partial(BoundedWebSocket, first=limits.greeting)),
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            # A client could name itself any host by a header that only a proxy may set.
            proxy_headers=False,
            server_header=False,
            ws_max_size=limits.frame,
            ws_per_message_deflate=False,
            limit_concurrency=limits.connections,
            backlog=_BACKLOG,
            h11_max_incomplete_event_size=2 * limits.headers,
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `Stopping`."""
        yield


@contextmanager
def listening(host: str, port: int, *, remote: bool) -> Iterator[socket.socket]:
    """Return the listening socket of a server.

    Raises:
        SettingsError: the port is taken, or other machines could reach it and no setting allows that.
    """
    if not (is_loopback(host) or remote):
        raise SettingsError(
            [f"--host {host} can be reached from other machines. Add --allow-remote if that is meant."]
        )
    with ExitStack() as closing:
        try:
            family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            # asyncio sends at once only what goes over a socket that says it is TCP; else a small write waits
            # for the acknowledgement of the one before, mostly 40 ms.
            taken = closing.enter_context(socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP))
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(address)
            # Listening begins before the address is announced: early clients wait.
            taken.listen(_BACKLOG)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            taken_already = getattr(error, "errno", 0) == errno.EADDRINUSE
            advice = " --port 0 takes a free one." if taken_already else ""
            raise SettingsError([f"cannot listen on {host} port {port}: {why}.{advice}"]) from error
        yield taken


def _announce(
    call: Invocation,
    settings: Settings,
    names: OwnNames,
    token: ServerToken,
    file: Path | None,
    confined: str,
) -> None:
    """Write lines on the server's address, its token, its model, the sandbox, and its open interfaces."""
    call.say(f"serving http://{names.written}")
    call.say(f"token: {f'in {file}' if file else f'that of {TOKEN_VARIABLE}'}")
    if file and call.notes.isatty():
        call.say(f"page: http://{names.written}/#token={token.reveal()}")
    call.say(f"model: {_model_line(settings, call.environ)}")
    call.say(f"sandbox: {confined}")
    for line in opened_by(call, names, unasked=settings.auto_run):
        call.say(line)


def _model_line(settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the line on the default model of sessions."""
    if settings.replay:
        return f"the recording {settings.replay}"
    if settings.model:
        return settings.model
    if settings.api_base:
        return f"none is named; the one of {settings.api_base}, if it offers one only"
    if settings.discover == "local":
        return "one that a server of this machine offers (discover: local)"
    found = next(keyed_models(environ), None)
    if found is not None:
        return f"{found.model} ({found.why})"
    # Without the setting a local server needs consent, and nobody is there when a client opens a session.
    return "none is configured; name one with --model, or add --discover local for one of this machine"


@contextmanager
def _logging(lines: logging.Handler) -> Iterator[None]:
    """Send the log of the HTTP server to the same lines."""
    log = logging.getLogger("uvicorn.error")
    log.addHandler(lines)
    log.setLevel(logging.WARNING)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(lines)


async def _nothing() -> None:
    """Do nothing: sessions end their own kernels."""


def sandbox_line(settings: Settings, cwd: Path, environ: Mapping[str, str]) -> str:
    """Return a line on the sandbox tier of sessions' kernels, after testing it.

    Raises:
        NoSandbox: a sandbox is required, and none works here.
    """
    unasked = "; code runs without asking (auto_run)" if settings.auto_run else ""
    confinement = confinement_of(settings, cwd, environ)
    if elsewhere := _elsewhere(settings):
        confinement.check_elsewhere(elsewhere)
        return f"none; code runs in {elsewhere}{unasked}"
    confinement.check()
    tier = confinement.what
    if confinement.at_once:
        unasked = "; code starts at once, and its effects are asked about"
    if is_confined(tier):
        return f"{tier}{unasked}"
    why = f" ({confinement.missing})" if confinement.missing else ""
    return f"none{why}{unasked}"


def _elsewhere(settings: Settings) -> str:
    if settings.gateway_url:
        return "kernels behind a gateway"
    return "a kernel of somebody else" if settings.attach else ""


def application(
    sessions: Sessions,
    token: ServerToken,
    names: OwnNames,
    *,
    log: Line | None = None,
    compat: "Compat | None" = None,
) -> FastAPI:
    """Return the application that serves `sessions` over the native interface.

    Routers can be added with `include_router`: the middleware also applies to their routes.
    With `compat`, clients of Open Interpreter's protocol are also served, at other paths.
    """
    app = FastAPI(
        title="terp",
        version=__version__,
        description="Sessions of terp over HTTP and WebSocket. docs/server.md describes events and sockets.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses={500: {"model": failures.ErrorBody, "description": "An internal error."}},
    )
    failures.install(app)
    limits = sessions.limits
    if compat is not None:
        # Its heartbeat goes before the one that needs the token.
        compat.add_routes(app)
    for router in (
        sessions_router,
        turns_router,
        rewind_router,
        answers_router,
        code_router,
        files_router,
        results_router,
        socket_router,
        server_router,
    ):
        app.include_router(router(sessions))
    app.include_router(page_router())
    elsewhere = compat.entrance.owns if compat else lambda _: False
    # The last that is added comes first.
    app.add_middleware(Bodies, limits=limits, type_of=compat.type_of if compat else type_of)
    if compat is not None:
        app.add_middleware(KeyNeeded, entrance=compat.entrance, public=PUBLIC)
    app.add_middleware(Access, names=names, token=token, limits=limits, public=PUBLIC, elsewhere=elsewhere)
    if log is not None:
        app.add_middleware(RequestLog, line=log)
    return app
