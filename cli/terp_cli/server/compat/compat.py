"""The parts of the protocol put together."""

from collections.abc import Callable

from fastapi import FastAPI, WebSocket
from starlette.types import Scope

from terp.settings import Settings
from terp_cli.server.bodies import type_of
from terp_cli.server.compat.conversation import Conversation
from terp_cli.server.compat.entrance import Entrance
from terp_cli.server.compat.feed import Feed
from terp_cli.server.compat.files import Reachable
from terp_cli.server.compat.opening import Changing, SharedSession
from terp_cli.server.compat.routes import files_router, run_router, settings_router, talk_router
from terp_cli.server.compat.socket import Connection, Strangers
from terp_cli.server.compat.variables import Variables
from terp_cli.server.compat.wanted import Wanted
from terp_cli.server.sessions import Sessions
from terp_cli.server.token import Token


class Compat:
    """What clients of the protocol are served: one conversation, over one of the `sessions`.

    `alone` tells that this machine alone can call, `unsafe` that clients may have code run unasked and reach
    files outside the session's directory.
    """

    def __init__(
        self,
        sessions: Sessions,
        started: Settings,
        changing: Changing,
        variables: Variables,
        token: Token,
        *,
        alone: Callable[[], bool],
        unsafe: bool,
    ) -> None:
        self.entrance = Entrance(variables, token, alone)
        self.wanted = Wanted(started, unsafe=unsafe, name=variables.id)
        self.feed = Feed(acknowledged=variables.acknowledges)
        self.conversation = Conversation(SharedSession(sessions, self.wanted, changing), self.feed)
        self.has_files = variables.has_insecure_routes
        self.has_run = unsafe and self.has_files
        self._sessions = sessions
        self._reachable = Reachable(sessions.ground, anywhere=unsafe)

    def type_of(self, scope: Scope) -> str:
        """The content type that the body of a request must have: an upload is a form."""
        is_upload = (scope["method"], scope["path"]) == ("POST", "/upload")
        return "multipart/form-data" if is_upload else type_of(scope)

    def add_routes(self, app: FastAPI) -> None:
        """Serve the protocol."""
        strangers = Strangers()

        @app.websocket("/")
        async def talk(socket: WebSocket) -> None:
            """Frames both ways."""
            limits = self._sessions.limits
            await Connection(socket, self.conversation, self.entrance, strangers, limits).serve()

        app.include_router(talk_router(self.conversation))
        app.include_router(settings_router(self.conversation, self.wanted))
        if self.has_run:
            app.include_router(run_router(self.conversation))
        if self.has_files:
            app.include_router(files_router(self.conversation, self._reachable))
