"""The routes of sessions (create, list, resume, fork, remove) and of the server itself."""

import json
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, TypeVar

import anyio.to_thread
from fastapi import APIRouter, Header, Query, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.types import Message

from terp import __version__
from terp.checks.until import loop as until
from terp.errors import TerpError
from terp.events.messages import Attachment
from terp.events.wire import schema
from terp.person import Decline, Run
from terp.session.attachments import attach, with_attachments
from terp.session.session import Session
from terp_cli.render.rewound import outcome, question
from terp_cli.server.access import POLICY
from terp_cli.server.failures import (
    Documented,
    RequestRefused,
    documented,
    refusal_of,
    sending,
    validation_lines,
)
from terp_cli.server.following import EventStream, Outgoing, batches, until_one_ends
from terp_cli.server.native import forms
from terp_cli.server.opening import SessionOffer, SessionRequest
from terp_cli.server.person import BY
from terp_cli.server.sessions import Served, Sessions, memory_of_this_process
from terp_cli.server.transcript import decoded
from terp_cli.server.turns import ServedTurn


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
        rows = [replace(entry, open=served is not None) for entry, served in found]
        return forms.SessionList.model_validate({"sessions": rows}, from_attributes=True)

    @routes.get("/{session}", responses=documented(404, 409))
    async def get(session: str) -> forms.SessionInfo:
        """An open session, with the questions that wait."""
        return forms.session_info(sessions.get(session))

    @routes.post("/{session}/resume", responses=documented(404, 409))
    async def resume(session: str, wishes: forms.ResumeBody) -> forms.SessionInfo:
        """Open a stored session, in new kernels. An open session is left unchanged."""
        wanted = SessionRequest(wishes.profile, wishes.model, "", wishes.settings)
        return forms.session_info(await sessions.resume(session, wanted))

    @routes.patch("/{session}", responses=documented(404, 409))
    async def change(session: str, wanted: forms.ChangeBody) -> forms.SessionInfo:
        """Rename an open session, or use another model or profile; kernels keep their variables."""
        request = SessionRequest(wanted.profile, wanted.model)
        return forms.session_info(await sessions.change(session, request, wanted.title))

    @routes.post("/{session}/close", status_code=204, responses=documented(404, 409))
    async def close(session: str) -> Response:
        """End the kernels of a session and close it. The conversation stays stored."""
        await sessions.close(session)
        return Response(status_code=204)

    @routes.post("/{session}/fork", status_code=201, responses=documented(404, 409))
    async def fork(session: str, wanted: forms.ForkBody | None = None) -> forms.Forked:
        """Copy the conversation to another session, which can be resumed."""
        return forms.Forked(id=await sessions.fork(session, wanted.title if wanted else ""))

    @routes.delete("/{session}", status_code=204, responses=documented(404, 409))
    async def delete(session: str) -> Response:
        """End a session and remove its stored data, and the working directory that was created for it."""
        await sessions.delete(session)
        return Response(status_code=204)

    return routes


_STRING = {"schema": {"type": "string"}}


def server_router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["server"])

    @routes.get("/heartbeat", responses=documented())
    async def heartbeat() -> forms.Alive:
        """The server answers, whatever its sessions do."""
        return forms.Alive(version=__version__, sessions=len(sessions.open))

    @routes.get("/v1/profiles", responses=documented())
    async def profiles() -> SessionOffer:
        """The profiles that a session can be made with, and the model of the server."""
        return await anyio.to_thread.run_sync(sessions.opener.offer)

    @routes.get("/v1/listed_models", responses=documented())
    async def listed() -> forms.ListedModels:
        """The models that the provider lists, and servers of this machine; it is asked at each request."""
        return forms.ListedModels(models=list(await sessions.opener.listed()))

    @routes.get("/v1/schema/events", response_model=forms.Schema, responses=documented())
    async def events() -> Response:
        """The JSON Schema of events."""
        return JSONResponse(schema())

    counters = sending("Counters in the text format of Prometheus.", {"text/plain": _STRING})

    @routes.get("/metrics", response_class=Response, responses=counters)
    async def metrics() -> Response:
        """Counters for Prometheus."""
        return Response("".join(_metrics(sessions)), media_type="text/plain; version=0.0.4")

    return routes


def _metrics(sessions: Sessions) -> Iterator[str]:
    served = sessions.open
    rows: tuple[tuple[str, str, str, float], ...] = (
        ("sessions_open", "gauge", "Sessions that are open.", len(served)),
        ("sessions_opened_total", "counter", "Sessions that were opened.", sessions.opened),
        ("turns_running", "gauge", "Turns that are running.", sum(one.turns.busy for one in served)),
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


async def begin_turn(served: Served, prompt: str, files: Sequence[str]) -> ServedTurn:
    """Have a prompt answered, with files of the session.

    Raises:
        RequestRefused: there is nothing to ask, a file is not there, or too many turns wait.
        AttachmentError: a file cannot be attached.
    """
    if not (prompt.strip() or files):
        raise RequestRefused(409, "The prompt is empty.", code="nothing_asked")
    attachments = await anyio.to_thread.run_sync(_attached, served, files) if files else ()
    prompt = with_attachments(prompt, attachments)
    return served.ask(partial(until.ask, prompt=prompt, attachments=attachments))


def resume_turn(served: Served) -> ServedTurn:
    """Continue the turn that was waiting when the session ended.

    Raises:
        RequestRefused: none did, or its code was answered since.
    """
    if not served.session.pending:
        raise RequestRefused(409, "No code of this session waits for an answer.", code="not_waiting")
    return served.ask(Session.continue_turn)


def _attached(served: Served, files: Sequence[str]) -> tuple[Attachment, ...]:
    for path in files:
        # Reached without a link, so that no file of another place is described to the model.
        os.close(served.files.read(path))
    return attach([str(served.cwd / path) for path in files], served.cwd)


_LONGEST_ID = 15


def sending_events() -> Documented:
    """Return the documented answers of a route that sends events."""
    about = "The events, each in the wire form of docs/server.md, with its number as its id."
    return sending(about, {"text/event-stream": _STRING}, 404, 409)


def answers_of_turns() -> Documented:
    """Return the documented answers of a route that begins a turn."""
    return {202: {"model": forms.TurnTaken}, **sending_events()}


def begun(served: Served, turn: ServedTurn, *, stream: bool) -> Response:
    """Return the answer of a route that begins a turn: a stream of its events, or where they will be."""
    if stream:
        return EventStream(served, 0, turn)
    return JSONResponse(_taken(served, turn), status_code=202)


def _taken(served: Served, turn: ServedTurn) -> dict[str, Any]:
    return {"after": served.transcript.last, "waiting": turn.ahead}


def turns_router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/sessions/{session}", tags=["turns"])
    answers = answers_of_turns()

    @routes.post("/turns", response_class=Response, responses=answers)
    async def ask(session: str, wanted: forms.TurnBody) -> Response:
        """Send a prompt. The turn continues without the client, except for code that waits for approval."""
        served = sessions.get(session)
        turn = await begin_turn(served, wanted.prompt, wanted.attachments)
        return begun(served, turn, stream=wanted.stream)

    @routes.post("/go_on", response_class=Response, responses=answers)
    async def go_on(session: str, wanted: forms.ResumeTurnBody) -> Response:
        """Ask again about the code that waited for an answer when the session ended."""
        served = sessions.get(session)
        return begun(served, resume_turn(served), stream=wanted.stream)

    @routes.get("/events", response_class=Response, responses=sending_events())
    async def events(
        session: str,
        after: Annotated[int, Query(ge=0, le=10**_LONGEST_ID)] = 0,
        last_event_id: Annotated[str, Header(pattern=r"^\d{0,15}$")] = "",
    ) -> Response:
        """Send all events of the session, then new ones. `Last-Event-ID` goes before `after`."""
        served = sessions.get(session)
        return EventStream(served, int(last_event_id or after))

    @routes.post("/interrupt", responses=documented(404, 409))
    async def interrupt(session: str) -> forms.TurnsDropped:
        """Stop the model or the code, and drop waiting turns. Kernels keep their variables."""
        return forms.TurnsDropped(dropped=await sessions.get(session).stop())

    return routes


def rewind_router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/sessions/{session}", tags=["turns"])

    @routes.post("/rewind", responses=documented(404, 409))
    async def rewind(session: str, wanted: forms.RewindBody) -> forms.Rewound:
        """Undo the last turns, with the changes of their code to variables, and to these files."""
        served = sessions.get(session)
        new = {one.path for one in await served.changed_files(wanted.turns) if one.new}
        restored = await served.rewind(wanted.turns, wanted.files)
        redacted = served.redactor.redacted
        return forms.Rewound(
            turns=len(restored.turns),
            restored=list(restored.restored),
            removed=list(restored.removed),
            lost=list(restored.lost),
            files=[redacted(path) for path in restored.files],
            files_lost=[(redacted(path), why) for path, why in restored.files_lost],
            told=[redacted(line) for line in outcome(str(served.cwd), restored, new)],
        )

    @routes.get("/rewind", responses=documented(404, 409))
    async def ask_about_files(session: str, turns: Annotated[forms.Turns, Query()]) -> forms.RewindQuestion:
        """The files that can be restored when the last turns are undone, and the question about them."""
        served = sessions.get(session)
        files = await served.changed_files(turns)
        asked = question(str(served.cwd), files) if files else ""
        redacted = served.redactor.redacted
        return forms.RewindQuestion(question=redacted(asked), files=[redacted(one.path) for one in files])

    return routes


def answers_router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/sessions/{session}", tags=["answers"])

    @routes.post("/approvals/{call_id}", responses=documented(404, 409))
    async def decide(session: str, call_id: str, decision: forms.CodeDecision) -> forms.Taken:
        """Run the code of a call, run other code in its place, or decline it. The first answer counts."""
        served = sessions.get(session)
        served.questions.decide(call_id, decision.digest, decided(decision))
        return forms.Taken()

    @routes.post("/answers/{question_id}", responses=documented(404, 409))
    async def answer(session: str, question_id: str, given: forms.AnswerBody) -> forms.Taken:
        """Type a line for code that waits for one, consent or not, or choose. The first answer counts."""
        sessions.get(session).questions.answer(question_id, given.answer)
        return forms.Taken()

    return routes


def decided(decision: forms.CodeDecision) -> Run | Decline:
    """Return the decision of a client."""
    if decision.decision == "run":
        return Run(decision.code, by=BY)
    return Decline(decision.reason, stop=decision.stop)


# RFC 6455: the session is gone, and a frame that is not JSON.
_ENDED, _WRONG = 1001, 1007
Form = TypeVar("Form", bound=forms.Sent)
Doing = Callable[[Served, dict[str, Any]], Awaitable[dict[str, Any]]]


def socket_router(sessions: Sessions) -> APIRouter:
    """The route."""
    routes = APIRouter()

    @routes.websocket("/v1/sessions/{session}/ws")
    async def talk(socket: WebSocket, session: str, after: Annotated[int, Query(ge=0)] = 0) -> None:
        """Send every event after the number `after` as a frame; answer each frame with its outcome."""
        await socket.accept()
        try:
            served = sessions.get(session)
            with served.follows():
                await _talked(socket, served, after)
        except RequestRefused as refused:
            await socket.close(POLICY, refused.problem.code)

    return routes


async def _talked(socket: WebSocket, served: Served, after: int) -> None:
    """Send and take until the session is closed, or the client has left."""
    outgoing = Outgoing(socket.send, served.limits.stall_s)
    # A client that has left, or takes nothing, is no failure.
    with suppress(OSError, WebSocketDisconnect):
        await until_one_ends(
            _send_events(socket, served, after, outgoing),
            _send_changes(served, outgoing),
            _take(socket, served, outgoing),
            outgoing.watched(),
        )


async def _send_events(socket: WebSocket, served: Served, after: int, outgoing: Outgoing) -> None:
    async with aclosing(batches(served, after)) as following:
        async for batch in following:
            for event in batch:
                await outgoing.send(_text(event.json.decode()))
    await socket.close(_ENDED)


async def _send_changes(served: Served, outgoing: Outgoing) -> None:
    """Send the session after each change of its title, model or profile; run until cancelled."""
    sent = served.changes
    while True:
        if sent == served.changes:
            await served.session.log.changed(deltas=False)
        else:
            sent = served.changes
            changed = forms.session_info(served).model_dump()
            await outgoing.send(_text(json.dumps({"changed_session": changed})))


async def _take(socket: WebSocket, served: Served, outgoing: Outgoing) -> None:
    while (message := await socket.receive())["type"] == "websocket.receive":
        frame = decoded(message.get("text") or "")
        if frame is None:
            await socket.close(_WRONG)
            return
        reply = {"reply_to": frame.get("id"), **await _done(served, frame)}
        await outgoing.send(_text(json.dumps(reply)))


async def _done(served: Served, frame: dict[str, Any]) -> dict[str, Any]:
    """Run the request in a frame; return its result or its error."""
    served.heard()
    rest = {name: value for name, value in frame.items() if name not in ("do", "id")}
    doing = _DOINGS.get(str(frame.get("do")))
    try:
        if doing is None:
            raise RequestRefused(422, f"'do' must be one of {', '.join(_DOINGS)}.")
        return await doing(served, rest)
    except (RequestRefused, TerpError) as error:
        return {"error": refusal_of(error).problem.model_dump()}


async def _ask(served: Served, rest: dict[str, Any]) -> dict[str, Any]:
    wanted = _read(forms.TurnBody, rest)
    return _taken(served, await begin_turn(served, wanted.prompt, wanted.attachments))


async def _go_on(served: Served, rest: dict[str, Any]) -> dict[str, Any]:
    _read(forms.ResumeTurnBody, rest)
    return _taken(served, resume_turn(served))


async def _decide(served: Served, rest: dict[str, Any]) -> dict[str, Any]:
    call_id = str(rest.pop("call_id", ""))
    decision = _read(forms.CodeDecision, rest)
    served.questions.decide(call_id, decision.digest, decided(decision))
    return {"taken": True}


async def _answer(served: Served, rest: dict[str, Any]) -> dict[str, Any]:
    question_id = str(rest.pop("question_id", ""))
    served.questions.answer(question_id, _read(forms.AnswerBody, rest).answer)
    return {"taken": True}


async def _interrupt(served: Served, _: dict[str, Any]) -> dict[str, Any]:
    return {"dropped": await served.stop()}


_DOINGS: dict[str, Doing] = {
    "ask": _ask,
    "go_on": _go_on,
    "approve": _decide,
    "answer": _answer,
    "interrupt": _interrupt,
}


def _read(form: type[Form], fields: dict[str, Any]) -> Form:
    try:
        return form.model_validate_json(json.dumps(fields))
    except ValidationError as error:
        raise RequestRefused(422, "; ".join(validation_lines(error.errors()))) from error


def _text(text: str) -> Message:
    return {"type": "websocket.send", "text": text}
