"""Answers on the wire: in one object, or in chunks as server-sent events."""

import secrets
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from terp.events.messages import ToolCall
from terp.session.cost.budget import Tally
from terp.text.dataclasses import dataclass, field
from terp_cli.server import failures
from terp_cli.server.failures import RequestRefused
from terp_cli.server.following import keep_alive, piece_of_body, send_response
from terp_cli.server.openai.answering import AnswerDelta, AnswerEnded, ChatAnswer, Piece
from terp_cli.server.transcript import encoded

# Clients of OpenAI send a request again after most errors, and code of this one may have run.
_NEVER_AGAIN = {"X-Should-Retry": "false"}
SESSION = "X-Terp-Session"
"""The header that names the session, in requests and in answers."""


@dataclass(frozen=True, slots=True)
class ChunkFields:
    """The common fields of all chunks of an answer."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def chunk(self, delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        """Return one chunk."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def tokens(self, used: Tally) -> dict[str, Any]:
        """Return the chunk with the usage."""
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": _usage(used)}

    def whole(self, message: Mapping[str, Any], finish: str, used: Tally) -> dict[str, Any]:
        """Return the answer as one object."""
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        return {**self._head("chat.completion"), "choices": [choice], "usage": _usage(used)}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


@dataclass(slots=True)
class SentReply:
    """The answer as sent to a client: its text, the model's reasoning, and its end, if it has ended."""

    words: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    ended: AnswerEnded | None = None
    failed: RequestRefused | None = None

    def add(self, piece: Piece) -> None:
        """Add a piece."""
        match piece:
            case AnswerDelta(text=text, thought=True):
                self.thoughts.append(text)
            case AnswerDelta(text=text):
                self.words.append(text)
            case AnswerEnded():
                self.ended = piece

    @property
    def text(self) -> str:
        """Return the whole text."""
        return "".join(self.words)


class JsonReply(Response):
    """Sends an answer in one object. A client that leaves stops the turn.

    `over` is called at the end, with the answer as sent.
    """

    def __init__(self, answer: ChatAnswer, frame: ChunkFields, over: Callable[[SentReply], None]) -> None:
        super().__init__()
        self.sent_reply = SentReply()
        self.frame = frame
        self.answer = answer
        self.marks = {SESSION: answer.thread.served.id, "Cache-Control": "no-store"}
        self._over = over

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer, unless the client leaves before."""
        try:
            sending = partial(self._send, scope, receive)
            await send_response(self.answer.thread.served, receive, send, sending, self.waits)
        finally:
            self._over(self.sent_reply)

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with aclosing(self.answer.pieces()) as pieces:
                await self.sent(pieces, send)
        except RequestRefused as refused:
            self.sent_reply.failed = refused
            await self.failed(refused)(scope, receive, send)

    async def waits(self, send: Send) -> None:
        """Send no keep-alive: a single object is sent only when the answer is complete."""

    async def sent(self, pieces: AsyncGenerator[Piece, None], send: Send) -> None:
        """Send the pieces.

        Raises:
            RequestRefused: the turn has failed.
        """
        async for piece in pieces:
            self.sent_reply.add(piece)
        whole = Response(encoded(self.whole()), headers=self.marks, media_type="application/json")
        await send({"type": "http.response.start", "status": 200, "headers": whole.raw_headers})
        await send({"type": "http.response.body", "body": whole.body})

    def whole(self) -> dict[str, Any]:
        """Return the answer as one object."""
        ended = self.sent_reply.ended or AnswerEnded("stop")
        return self.frame.whole(_message(self.sent_reply, ended.calls), ended.reason, self.answer.used)

    def failed(self, refused: RequestRefused) -> Callable[[Scope, Receive, Send], Any]:
        """Return the response for a failed turn."""
        return failures.answer(refused, {**self.marks, **_NEVER_AGAIN})


class StreamReply(JsonReply):
    """Sends an answer in chunks. The first chunk sends its status: an earlier failure has its own status."""

    sends_usage = False
    end = b"data: [DONE]\n\n"
    _begun = False

    async def sent(self, pieces: AsyncGenerator[Piece, None], send: Send) -> None:
        """Send the pieces as they come."""
        async for piece in pieces:
            await self._begin(send)
            self.sent_reply.add(piece)
            for event in self.events(piece):
                await send(self.written(event))
        for event in self.closing():
            await send(self.written(event))
        await send(piece_of_body(self.end))
        await send({"type": "http.response.body", "body": b""})

    def failed(self, refused: RequestRefused) -> Callable[[Scope, Receive, Send], Any]:
        """Send the failure as an event, if others were sent before."""
        if not self._begun:
            return super().failed(refused)

        async def send_failure(_scope: Scope, _receive: Receive, send: Send) -> None:
            await send(self.written(self.failure(refused)))
            await send({"type": "http.response.body", "body": b""})

        return send_failure

    async def waits(self, send: Send) -> None:
        """Send a keep-alive while the answer is not complete."""
        await self._begin(send)
        await keep_alive(send)

    async def _begin(self, send: Send) -> None:
        if self._begun:
            return
        self._begun = True
        head = Response(headers={**self.marks, "X-Accel-Buffering": "no"}, media_type="text/event-stream")
        del head.headers["content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": head.raw_headers})
        for event in self.opening():
            await send(self.written(event))

    def written(self, event: Mapping[str, Any]) -> Message:
        """Return an event as a piece of the response."""
        return piece_of_body(b"data: %b\n\n" % encoded(event))

    def opening(self) -> Iterable[Mapping[str, Any]]:
        """Return the first events."""
        return [self.frame.chunk({"role": "assistant", "content": ""})]

    def events(self, piece: Piece) -> Iterable[Mapping[str, Any]]:
        """Return the chunks of a piece."""
        match piece:
            case AnswerDelta(text=text, thought=thought):
                return [self.frame.chunk({"reasoning_content" if thought else "content": text})]
            case AnswerEnded(reason=reason, calls=calls):
                called = [{"index": at, **one} for at, one in enumerate(_calls(calls))]
                before = [self.frame.chunk({"tool_calls": called})] if called else []
                return [*before, self.frame.chunk({}, reason)]

    def closing(self) -> Iterable[Mapping[str, Any]]:
        """Return the last events."""
        return [self.frame.tokens(self.answer.used)] if self.sends_usage else []

    def failure(self, refused: RequestRefused) -> Mapping[str, Any]:
        """Return the last event of a failed turn."""
        return {"error": refused.problem.model_dump()}


def _message(sent_reply: SentReply, calls: Sequence[ToolCall]) -> dict[str, Any]:
    content = None if calls and not sent_reply.text else sent_reply.text
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    if sent_reply.thoughts:
        message["reasoning_content"] = "".join(sent_reply.thoughts)
    if calls:
        message["tool_calls"] = _calls(calls)
    return message


def _calls(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.raw or call.arguments},
        }
        for call in calls
    ]


def _usage(used: Tally) -> dict[str, Any]:
    return {
        "prompt_tokens": used.input_tokens,
        "completion_tokens": used.output_tokens,
        "total_tokens": used.input_tokens + used.output_tokens,
        "prompt_tokens_details": {"cached_tokens": used.cached_tokens},
    }
