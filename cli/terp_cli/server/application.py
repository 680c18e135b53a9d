"""The parts of a server put together. Others add routers to what this returns."""

from typing import TYPE_CHECKING

from fastapi import FastAPI

from terp import __version__
from terp_cli.server import failures
from terp_cli.server.access import Access, HostNames, nowhere
from terp_cli.server.bodies import Bodies, type_of
from terp_cli.server.compat.entrance import KeyNeeded
from terp_cli.server.limits import ServerLimits
from terp_cli.server.native.files import files_router, results_router
from terp_cli.server.native.sessions import server_router, sessions_router
from terp_cli.server.native.socket import socket_router
from terp_cli.server.native.turns import answers_router, turns_router
from terp_cli.server.page.document import PUBLIC, page_router
from terp_cli.server.request_log import Line, RequestLog
from terp_cli.server.sessions import Sessions
from terp_cli.server.token import ServerToken

if TYPE_CHECKING:
    from terp_cli.server.compat.compat import Compat


def application(
    sessions: Sessions,
    token: ServerToken,
    names: HostNames,
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
        description="Sessions of terp over HTTP and WebSocket. docs/server.md describes events and sockets.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses={500: {"model": failures.ErrorBody, "description": "A mistake of the server."}},
    )
    failures.install(app)
    if compat is not None:
        # Its heartbeat goes before the one that needs the token.
        compat.add_routes(app)
    for router in (
        sessions_router,
        turns_router,
        answers_router,
        files_router,
        results_router,
        socket_router,
        server_router,
    ):
        app.include_router(router(sessions))
    app.include_router(page_router())
    elsewhere = compat.entrance.owns if compat else nowhere
    # The last that is added comes first.
    app.add_middleware(Bodies, limits=limits, type_of=compat.type_of if compat else type_of)
    if compat is not None:
        app.add_middleware(KeyNeeded, entrance=compat.entrance, public=PUBLIC)
    app.add_middleware(Access, names=names, token=token, limits=limits, public=PUBLIC, elsewhere=elsewhere)
    if log is not None:
        app.add_middleware(RequestLog, line=log)
    return app
