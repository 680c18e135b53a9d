"""What there is to know of the server itself: that it lives, what it counts, what its events look like."""

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from terp import __version__
from terp.events.wire_schema import schema
from terp_cli.server.failures import documented
from terp_cli.server.native import forms
from terp_cli.server.sessions import Sessions, memory_of_this_process

_TEXT: dict[str, Any] = {
    "description": "Counters in the text format of Prometheus.",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


def router(sessions: Sessions) -> APIRouter:
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
        ("clients_following", "gauge", "Clients that follow.", sum(one.presence.following for one in served)),
        ("memory_bytes", "gauge", "Memory of the server without kernels.", memory_of_this_process()),
    )
    for name, kind, about, value in rows:
        yield f"# HELP terp_{name} {about}\n# TYPE terp_{name} {kind}\nterp_{name} {value:.16g}\n"
