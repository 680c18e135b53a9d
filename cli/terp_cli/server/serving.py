"""`terp serve`: a server from its settings to its end."""

import asyncio
import gc
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from terp.errors import SettingsError
from terp.kernels.local import LocalKernels
from terp.known_secrets import Secrets
from terp.settings import Settings
from terp.workbench import kernel_options
from terp_cli.call import Call
from terp_cli.server.application import application
from terp_cli.server.ground import Ground
from terp_cli.server.limits import ServerLimits
from terp_cli.server.openai import routes as openai
from terp_cli.server.openai.embedding import Embedder
from terp_cli.server.opening import SettingsOpener
from terp_cli.server.own_names import OwnNames, is_loopback
from terp_cli.server.request_log import JsonLines, Line, lines_to
from terp_cli.server.sessions import Sessions
from terp_cli.server.token import TOKEN_VARIABLE, Token, token_of, written

if TYPE_CHECKING:
    from fastapi import FastAPI

_BACKLOG = 512


def serve(call: Call) -> int:
    """Serve until a signal ends it; the exit code."""
    settings = call.settings()
    token, is_new = token_of(call.environ)
    with _listening(call) as listening, ExitStack() as stack:
        port = int(listening.getsockname()[1])
        folder = call.places.state / "servers"
        file = stack.enter_context(written(token, folder, port)) if is_new else None
        names = OwnNames(call.options.host, port)
        _announce(call, settings, names, token, file)
        _keep_imports()
        return asyncio.run(_served(call, settings, token, names, listening))


async def _served(
    call: Call, settings: Settings, token: Token, names: OwnNames, listening: socket.socket
) -> int:
    limits = ServerLimits(sessions=call.options.max_sessions, idle_s=call.options.idle_timeout)
    ground = Ground(call.cwd, call.places)
    opener = SettingsOpener(
        settings,
        # Nothing of a project counts: nobody was asked about it.
        lambda profile: call.loaded(call.line.given, profile, None).settings,
        ground,
        call.environ,
        token,
        call.options.api_key,
    )
    sessions = Sessions(opener, ground, limits)
    line = lines_to(_writer(call), quiet=call.options.quiet)
    app = application(sessions, token, names, limits, log=line)
    embedder = Embedder(settings, call.environ, call.options.api_key)
    app.include_router(openai.router(sessions, model=settings.model, embed=embedder))
    # It takes a fifth of a second, in which nothing else would be answered.
    app.openapi()
    server = Server(app, limits)

    async def end() -> None:
        await sessions.aclose()
        server.should_exit = True

    with _logging(line, call, settings, token), call.stopping.watching(end, _nothing):
        await server.serve(sockets=[listening])
    return call.stopping.code or 0


class Server(uvicorn.Server):
    """uvicorn with the limits of this server, whose signals are terp's own."""

    def __init__(self, app: "FastAPI", limits: ServerLimits) -> None:
        config = uvicorn.Config(
            app,
            # Which parser takes a request is part of what was tested, so not whatever is installed.
            http="h11",
            ws="websockets-sansio",
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
def _listening(call: Call) -> Iterator[socket.socket]:
    """The socket of the server.

    Raises:
        SettingsError: it is not to be had, or other machines could reach it and nobody asked for that.
    """
    host, port = call.options.host, call.options.port
    if not (is_loopback(host) or call.options.allow_remote):
        raise SettingsError(
            [f"--host {host} can be reached from other machines. Add --allow-remote if that is meant."]
        )
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        # Before anybody is told where: who comes early waits.
        listening.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise SettingsError(
            [f"cannot listen on {host} port {port}: {why}. --port 0 takes a free one."]
        ) from error
    with listening:
        yield listening


def _announce(call: Call, settings: Settings, names: OwnNames, token: Token, file: Path | None) -> None:
    """Say, in a line each, where the server is, where its token is, what confines code, and what is open."""
    host = f"[{names.host}]" if ":" in names.host else names.host
    kernels = LocalKernels(str(call.cwd), kernel_options(settings), environ=call.environ)
    tier = kernels.get(kernels.languages[0]).tier
    confined = "nothing confines code" if tier == "none" else f"code is confined by {tier}"
    unasked = ", and it runs without being asked about (auto_run)" if settings.auto_run else ""
    call.tell(f"serving http://{host}:{names.port}")
    call.tell(f"token: {f'in {file}' if file else f'that of {TOKEN_VARIABLE}'}")
    if file and call.notes.isatty():
        call.tell(f"page: http://{host}:{names.port}/#token={token.reveal()}")
    call.tell(f"sandbox: {tier}; {confined}{unasked}")
    call.tell("open: /v1, the native interface and OpenAI's; no compatibility mode")


@contextmanager
def _logging(line: Line, call: Call, settings: Settings, token: Token) -> Iterator[None]:
    """What the HTTP server has to say goes to the same lines, without secrets."""
    environ = {**call.environ, TOKEN_VARIABLE: token.reveal()}
    lines = JsonLines(line, Secrets(environ, settings, call.options.api_key).scrubber())
    log = logging.getLogger("uvicorn.error")
    log.addHandler(lines)
    log.setLevel(logging.WARNING)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(lines)


def _writer(call: Call) -> Callable[[str], None]:
    def write(text: str) -> None:
        call.notes.write(text)
        call.notes.flush()

    return write


def _keep_imports() -> None:
    """Take all that is imported by now out of garbage collection, which `main` put off until here."""
    gc.freeze()
    gc.enable()


async def _nothing() -> None:
    """Sessions end their own kernels."""
