"""The parts of a server put together. Others add routers to what this returns."""

from typing import TYPE_CHECKING

from fastapi import FastAPI

from terp import __version__
from terp_cli.server import failures
from terp_cli.server.access import Access, nowhere
from terp_cli.server.bodies import Bodies, type_of
from terp_cli.server.compat.entrance import KeyNeeded
from terp_cli.server.limits import ServerLimits
from terp_cli.server.native import facts, files, page, questions, results, socket, turns
from terp_cli.server.native import sessions as session_routes
from terp_cli.server.own_names import Names
from terp_cli.server.request_log import Line, RequestLog
from terp_cli.server.sessions import Sessions
from terp_cli.server.token import Token

if TYPE_CHECKING:
    from terp_cli.server.compat.compat import Compat


def application(
    sessions: Sessions,
    token: Token,
    names: Names,
    limits: ServerLimits,
    *,
    log: Line | None = None,
    compat: "Compat | None" = None,
) -> FastAPI:
    """The native interface over `sessions`.

    Routers can be added with `include_router`: the layers around the routes hold for theirs as well.
    With `compat` clients of another protocol are served as well, at their own paths.
    """
    app = FastAPI(
        title="terp",
        version=__version__,
        description="Sessions of terp over HTTP and WebSocket. docs/server.md tells of events and sockets.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses={500: {"model": failures.Failure, "description": "A mistake of the server."}},
    )
    failures.install(app)
    if compat is not None:
        # Its heartbeat goes before the one that needs the token.
        compat.add_routes(app)
    for part in (session_routes, turns, questions, files, results, socket, facts):
        app.include_router(part.router(sessions))
    app.include_router(page.router())
    elsewhere = compat.entrance.owns if compat else nowhere
    # The last that is added comes first.
    app.add_middleware(Bodies, limits=limits, type_of=compat.type_of if compat else type_of)
    if compat is not None:
        app.add_middleware(KeyNeeded, entrance=compat.entrance, public=page.PUBLIC)
    app.add_middleware(
        Access, names=names, token=token, limits=limits, public=page.PUBLIC, elsewhere=elsewhere
    )
    if log is not None:
        app.add_middleware(RequestLog, line=log)
    return app
