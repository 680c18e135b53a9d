"""Sessions: made, listed, gone on with, copied, removed."""

from fastapi import APIRouter, Response

from terp_cli.server.failures import documented
from terp_cli.server.native import forms
from terp_cli.server.sessions import Sessions
from terp_cli.server.wishes import Wishes


def router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/sessions", tags=["sessions"])

    @routes.post("", status_code=201, responses=documented(409))
    async def create(wishes: forms.SessionWishes) -> forms.SessionTold:
        """A new session. No kernel is started before the model writes code."""
        wanted = Wishes(wishes.profile, wishes.model, wishes.cwd, wishes.settings)
        return forms.told(await sessions.new(wanted))

    @routes.get("", responses=documented())
    async def list_all() -> forms.SessionList:
        """All sessions that were kept, and are of this server's directories."""
        found = await sessions.listed()
        return forms.SessionList(sessions=[forms.row(entry, served) for entry, served in found])

    @routes.get("/{session}", responses=documented(404, 409))
    async def get(session: str) -> forms.SessionTold:
        """An open session, with the questions that wait."""
        return forms.told(sessions.get(session))

    @routes.post("/{session}/resume", responses=documented(404, 409))
    async def resume(session: str, wishes: forms.ResumeWishes) -> forms.SessionTold:
        """Open a stored session, in new kernels. One that is open is left as it is."""
        wanted = Wishes(wishes.profile, wishes.model, "", wishes.settings)
        return forms.told(await sessions.resume(session, wanted))

    @routes.post("/{session}/close", status_code=204, responses=documented(404, 409))
    async def close(session: str) -> Response:
        """End the kernels of a session and close it. What was said stays stored."""
        await sessions.close(session)
        return Response(status_code=204)

    @routes.post("/{session}/fork", status_code=201, responses=documented(404, 409))
    async def fork(session: str) -> forms.Forked:
        """Keep the conversation as it is now as another session as well. That one has to be resumed."""
        return forms.Forked(id=await sessions.fork(session))

    @routes.delete("/{session}", status_code=204, responses=documented(404, 409))
    async def delete(session: str) -> Response:
        """End a session and remove all that is kept of it, with the files of a directory of its own."""
        await sessions.delete(session)
        return Response(status_code=204)

    return routes
