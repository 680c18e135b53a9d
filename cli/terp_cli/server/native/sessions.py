"""The routes of sessions (create, list, resume, fork, remove) and of the server itself."""

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from terp import __version__
from terp.events.wire import schema
from terp_cli.server.failures import documented
from terp_cli.server.native import forms
from terp_cli.server.session_request import SessionRequest
from terp_cli.server.sessions import Sessions, memory_of_this_process


def sessions_router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/sessions", tags=["sessions"])

    @routes.post("", status_code=201, responses=documented(409))
    async def create(wishes: forms.SessionBody) -> forms.SessionInfo:
        """A new session. No kernel is started before the model writes code."""
        wanted = SessionRequest(wishes.profile, wishes.model, wishes.cwd, wishes.settings)
        return forms.session_info(await sessions.new(wanted))

    @routes.get("", responses=documented())
    async def list_all() -> forms.SessionList:
        """List the stored sessions of this server's directories."""
        found = await sessions.listed()
        return forms.SessionList(sessions=[forms.session_row(entry, served) for entry, served in found])

    @routes.get("/{session}", responses=documented(404, 409))
    async def get(session: str) -> forms.SessionInfo:
        """An open session, with the questions that wait."""
        return forms.session_info(sessions.get(session))

    @routes.post("/{session}/resume", responses=documented(404, 409))
    async def resume(session: str, wishes: forms.ResumeBody) -> forms.SessionInfo:
        """Open a stored session, in new kernels. An open session is left unchanged."""
        wanted = SessionRequest(wishes.profile, wishes.model, "", wishes.settings)
        return forms.session_info(await sessions.resume(session, wanted))

    @routes.post("/{session}/close", status_code=204, responses=documented(404, 409))
    async def close(session: str) -> Response:
        """End the kernels of a session and close it. The conversation stays stored."""
        await sessions.close(session)
        return Response(status_code=204)

    @routes.post("/{session}/fork", status_code=201, responses=documented(404, 409))
    async def fork(session: str) -> forms.Forked:
        """Copy the conversation to another session, which can be resumed."""
        return forms.Forked(id=await sessions.fork(session))

    @routes.delete("/{session}", status_code=204, responses=documented(404, 409))
    async def delete(session: str) -> Response:
        """End a session and remove its stored data, and the working directory that was created for it."""
        await sessions.delete(session)
        return Response(status_code=204)

    return routes


_TEXT: dict[str, Any] = {
    "description": "Counters in the text format of Prometheus.",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


def server_router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["server"])

    @routes.get("/heartbeat", responses=documented())
    async def heartbeat() -> forms.Alive:
        """The server answers, whatever its sessions do."""
        return forms.Alive(version=__version__, sessions=len(sessions.open))

    @routes.get("/v1/profiles", responses=documented())
    async def profiles() -> forms.ProfileList:
        """The profiles that a session can be made with, and the model of the server."""
        offer = await sessions.offer()
        rows = [
            forms.ProfileRow(name=one.name, description=one.description, model=one.model)
            for one in offer.profiles
        ]
        return forms.ProfileList(model=offer.model, profiles=rows, asks=offer.asks)

    @routes.get("/v1/schema/events", response_model=forms.Schema, responses=documented())
    async def events() -> Response:
        """The JSON Schema of events."""
        return JSONResponse(schema())

    @routes.get("/metrics", response_class=Response, responses={200: _TEXT, **documented()})
    async def metrics() -> Response:
        """Counters for Prometheus."""
        return Response("".join(_metrics(sessions)), media_type="text/plain; version=0.0.4")

    return routes


def _metrics(sessions: Sessions) -> Iterator[str]:
    served = sessions.open
    rows: tuple[tuple[str, str, str, float], ...] = (
        ("sessions_open", "gauge", "Sessions that are open.", len(served)),
        ("sessions_opened_total", "counter", "Sessions that were opened.", sessions.opened),
        ("turns_running", "gauge", "Turns that go on.", sum(one.turns.busy for one in served)),
        ("turns_waiting", "gauge", "Turns that wait.", sum(one.turns.waiting for one in served)),
        (
            "clients_following",
            "gauge",
            "Clients that follow.",
            sum(one.subscribers.following for one in served),
        ),
        ("memory_bytes", "gauge", "Memory of the server without kernels.", memory_of_this_process()),
    )
    for name, kind, about, value in rows:
        yield f"# HELP terp_{name} {about}\n# TYPE terp_{name} {kind}\nterp_{name} {value:.16g}\n"
