"""Turns and what they tell: as server-sent events, and interrupted."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import JSONResponse

from terp_cli.server import asking
from terp_cli.server.failures import documented
from terp_cli.server.following import EventStream
from terp_cli.server.native import forms
from terp_cli.server.served import Served
from terp_cli.server.sessions import Sessions
from terp_cli.server.turns import Turn

_EVENTS: dict[str, Any] = {
    "description": "The events, each in the wire form of docs/server.md, with its number as its id.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}
_LONGEST_ID = 15


def router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/sessions/{session}", tags=["turns"])
    answers = {200: _EVENTS, 202: {"model": forms.TurnTaken}, **documented(404, 409)}

    def begun(served: Served, turn: Turn, *, stream: bool) -> Response:
        if stream:
            return EventStream(served, 0, sessions.limits, turn)
        return JSONResponse({"after": served.transcript.last, "waiting": turn.ahead}, status_code=202)

    @routes.post("/turns", response_class=Response, responses=answers)
    async def ask(session: str, wanted: forms.TurnWanted) -> Response:
        """Ask. The turn goes on when the client leaves, but for code that nobody answers for."""
        served = sessions.get(session)
        turn = await asking.ask(served, wanted.prompt, wanted.attachments)
        return begun(served, turn, stream=wanted.stream)

    @routes.post("/go_on", response_class=Response, responses=answers)
    async def go_on(session: str, wanted: forms.GoOnWanted) -> Response:
        """Ask again about the code that waited for an answer when the session ended."""
        served = sessions.get(session)
        return begun(served, asking.go_on(served), stream=wanted.stream)

    @routes.get("/events", response_class=Response, responses={200: _EVENTS, **documented(404, 409)})
    async def events(
        session: str,
        after: Annotated[int, Query(ge=0, le=10**_LONGEST_ID)] = 0,
        last_event_id: Annotated[str, Header(pattern=r"^\d{0,15}$")] = "",
    ) -> Response:
        """All that happened in the session, then what happens. `Last-Event-ID` goes before `after`."""
        served = sessions.get(session)
        return EventStream(served, int(last_event_id or after), sessions.limits)

    @routes.post("/interrupt", responses=documented(404, 409))
    async def interrupt(session: str) -> forms.Stopped:
        """Stop the model or the code, and let no turn begin that waits. Kernels keep their variables."""
        return forms.Stopped(dropped=await sessions.get(session).stop())

    return routes
