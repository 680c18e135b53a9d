"""The server of an interpreter: an application that accepts further routes, configurable until it runs."""

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from socket import socket
from typing import TYPE_CHECKING

from terp.errors import SettingsError
from terp_cli.server.access import OwnNames, ServerToken, is_loopback
from terp_cli.server.compat.compat import DEFAULT_HOST, DEFAULT_PORT, Compat, stateful_of
from terp_cli.server.openai import routes as openai
from terp_cli.server.serving import HttpServer, application, listening
from terp_cli.server.sessions import Sessions

if TYPE_CHECKING:
    from terp_cli.server.interpreter.interpreter import AsyncInterpreter

_PAUSE_S = 1.0


class InterpreterServer:
    """`app` is the FastAPI application. `host` and `port` can be set until it runs."""

    def __init__(self, compat: Compat, sessions: Sessions, names: OwnNames, token: ServerToken) -> None:
        self.app = application(sessions, token, names, compat=compat)
        self.app.include_router(openai.router(sessions, stateful=stateful_of(compat)))
        self._compat = compat
        self._sessions = sessions
        self._names = names
        self._token = token
        self._running: HttpServer | None = None
        self.listens = threading.Event()
        """Set while `run` takes connections, for programs that call it in a thread."""

    @property
    def host(self) -> str:
        """The address on which it listens. One that other machines can reach needs a key."""
        return self._names.host

    @host.setter
    def host(self, host: str) -> None:
        self._names.host = host

    @property
    def port(self) -> int:
        """The port; 0 chooses a free one, which this returns while the server runs."""
        return self._names.port

    @port.setter
    def port(self, port: int) -> None:
        self._names.port = port

    @property
    def authenticate(self) -> Callable[[str], bool]:
        """The check of a key; can be replaced."""
        return self._compat.entrance.authenticate

    @authenticate.setter
    def authenticate(self, decide: Callable[[str], bool]) -> None:
        self._compat.entrance.authenticate = decide

    def run(self, host: str | None = None, port: int | None = None, retries: int = 5) -> None:
        """Serve until a signal or `stop`. If the port is taken, `retries` attempts are made.

        Raises:
            SettingsError: it cannot listen there.
        """
        self.host, self.port = host or self.host, self.port if port is None else port
        for left in reversed(range(max(1, retries))):
            try:
                with listening(self.host, self.port, remote=True) as taken:
                    asyncio.run(self._serve(taken))
                return
            except SettingsError:
                if not left:
                    raise
                time.sleep(_PAUSE_S)

    def stop(self) -> None:
        """Make `run` return; can be called from another thread."""
        if self._running is not None:
            self._running.should_exit = True

    async def aclose(self) -> None:
        """Save and close the session, if it was used without `run`."""
        await self._sessions.aclose()

    async def _serve(self, taken: socket) -> None:
        self.port = int(taken.getsockname()[1])
        self._say_where()
        self.listens.set()
        self._running = HttpServer(self.app, self._sessions.limits)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            # In another thread than the main one signals are left to that.
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self.stop)
        try:
            await self._running.serve(sockets=[taken])
        finally:
            self.listens.clear()
            await self.aclose()

    def _say_where(self) -> None:
        sys.stdout.write(f"Server will run at http://{self._names.written}\n")
        if not (is_loopback(self.host) or self._compat.entrance.has_key):
            sys.stdout.write(f"Other machines can reach it. The key is {self._token.reveal()}\n")
        sys.stdout.flush()


class Server(InterpreterServer):
    """The server of an interpreter, created again when its address changes."""

    DEFAULT_HOST, DEFAULT_PORT = DEFAULT_HOST, DEFAULT_PORT

    def __init__(
        self, async_interpreter: "AsyncInterpreter", host: str | None = None, port: int | None = None
    ) -> None:
        vars(self).update(vars(async_interpreter.server))
        self.host, self.port = host or self.host, self.port if port is None else port
        async_interpreter.server = self
