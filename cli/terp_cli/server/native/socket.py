"""A session over one WebSocket: its events come, prompts and answers go."""

import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect
from pydantic import ValidationError
from starlette.types import Message

from terp.errors import TerpError
from terp_cli.server.connections import ServerLimits
from terp_cli.server.failures import ErrorDetail, RequestRefused
from terp_cli.server.following import Outgoing, batches, until_one_ends
from terp_cli.server.native import forms
from terp_cli.server.native.sessions import begin_turn, decided, resume_turn
from terp_cli.server.sessions import Served, Sessions

_ENDED, _REFUSED, _WRONG = 1001, 1008, 1007
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
                await _talked(socket, served, after, sessions.limits)
        except RequestRefused as refused:
            await socket.close(_REFUSED, refused.problem.code)

    return routes


async def _talked(socket: WebSocket, served: Served, after: int, limits: ServerLimits) -> None:
    """Send and take until the session is closed, or the client has left."""
    outgoing = Outgoing(socket.send, limits.stall_s)
    # A client that has left, or takes nothing, is no failure.
    with suppress(OSError, WebSocketDisconnect):
        await until_one_ends(
            _send_events(socket, served, after, outgoing),
            _take(socket, served, outgoing),
            outgoing.watched(),
        )


async def _send_events(socket: WebSocket, served: Served, after: int, outgoing: Outgoing) -> None:
    async with aclosing(batches(served, after)) as following:
        async for batch in following:
            for event in batch:
                await outgoing.send(_text(event.json.decode()))
    await socket.close(_ENDED)


async def _take(socket: WebSocket, served: Served, outgoing: Outgoing) -> None:
    while (message := await socket.receive())["type"] == "websocket.receive":
        frame = _frame(message)
        if frame is None:
            await socket.close(_WRONG)
            return
        reply = {"reply_to": frame.get("id"), **await _done(served, frame)}
        await outgoing.send(_text(json.dumps(reply)))


async def _done(served: Served, frame: dict[str, Any]) -> dict[str, Any]:
    """Do what a frame asks for; what came of it, or why not."""
    served.heard()
    rest = {name: value for name, value in frame.items() if name not in ("do", "id")}
    doing = _DOINGS.get(str(frame.get("do")))
    try:
        if doing is None:
            raise RequestRefused(422, f"'do' must be one of {', '.join(_DOINGS)}.")
        return await doing(served, rest)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:10])
        return _failed(ErrorDetail(code="wrong_value", message=problems))
    except RequestRefused as refused:
        return _failed(refused.problem)
    except TerpError as error:
        return _failed(ErrorDetail(code=error.stop_reason, message=error.message, remedy=error.remedy))


async def _ask(served: Served, rest: dict[str, Any]) -> dict[str, Any]:
    wanted = _read(forms.TurnBody, rest)
    turn = await begin_turn(served, wanted.prompt, wanted.attachments)
    return {"after": served.transcript.last, "waiting": turn.ahead}


async def _go_on(served: Served, rest: dict[str, Any]) -> dict[str, Any]:
    _read(forms.ResumeTurnBody, rest)
    return {"after": served.transcript.last, "waiting": resume_turn(served).ahead}


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
    return form.model_validate_json(json.dumps(fields))


def _frame(message: Message) -> dict[str, Any] | None:
    try:
        frame = json.loads(message.get("text") or "")
    except (ValueError, RecursionError):
        return None
    return frame if isinstance(frame, dict) else None


def _failed(problem: ErrorDetail) -> dict[str, Any]:
    return {"error": problem.model_dump()}


def _text(text: str) -> Message:
    return {"type": "websocket.send", "text": text}
