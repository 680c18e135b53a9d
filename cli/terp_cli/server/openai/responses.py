"""OpenAI's Responses API: requests are converted to chat completions, answers to response objects."""

import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from starlette.types import Message

from terp.events.messages import ToolCall
from terp.session.cost.budget import Tally
from terp.text.dataclasses import dataclass, field
from terp_cli.server.failures import RequestRefused, validation_lines
from terp_cli.server.following import piece_of_body
from terp_cli.server.openai.answering import AnswerDelta, AnswerEnded, Piece
from terp_cli.server.openai.forms import AskingBody, ChatBody, ChatMessage, ChatToolCall, FunctionCalled
from terp_cli.server.openai.replies import JsonReply, SentReply, StreamReply
from terp_cli.server.openai.requests import OWN_MODEL
from terp_cli.server.transcript import encoded

_NOT_HERE = ("background", "conversation", "prompt")


class ResponseBody(AskingBody):
    """Items of a conversation, or those after an earlier response, and the options of the answer."""

    input: str | list[dict[str, Any]]
    instructions: str | None = None
    previous_response_id: str | None = None
    tools: list[dict[str, Any]] | None = None
    text: dict[str, Any] | None = None
    reasoning: dict[str, Any] | None = None
    max_output_tokens: int | None = None
    background: bool | None = None
    conversation: Any = None
    prompt: Any = None


def as_chat(wanted: ResponseBody, before: Sequence[ChatMessage]) -> ChatBody:
    """Convert the request to one of chat completions, with the messages `before` its input.

    Raises:
        RequestRefused: it asks for something that terp does not support.
    """
    if named := [name for name in _NOT_HERE if getattr(wanted, name)]:
        raise RequestRefused(400, f"{named[0]} is not understood.", code="unsupported_parameter")
    items = [{"role": "user", "content": wanted.input}] if isinstance(wanted.input, str) else wanted.input
    system = [{"role": "system", "content": wanted.instructions}] if wanted.instructions else []
    choice, form = wanted.tool_choice, (wanted.text or {}).get("format")
    if isinstance(choice, dict):
        choice = {"type": choice.get("type"), "function": {"name": choice.get("name")}}
    if isinstance(form, dict) and form.get("type") == "json_schema":
        form = {"type": "json_schema", "json_schema": _without_type(form)}
    fields = {
        "model": wanted.model,
        "tools": [{"type": one.get("type"), "function": _without_type(one)} for one in wanted.tools or ()],
        "tool_choice": choice,
        "response_format": form,
        "temperature": wanted.temperature,
        "top_p": wanted.top_p,
        "max_tokens": wanted.max_output_tokens,
        "reasoning_effort": (wanted.reasoning or {}).get("effort"),
    }
    try:
        messages = [*_messages(system), *before, *_messages(items)]
        return ChatBody.model_validate({**fields, "messages": messages})
    except ValidationError as error:
        raise RequestRefused(400, *validation_lines(error.errors()[:1])) from error


def _messages(items: Iterable[Mapping[str, Any]]) -> list[ChatMessage]:
    """Return the items as messages; an answer and the calls after it are one message."""
    found: list[ChatMessage] = []
    for item in items:
        match item.get("type", "message"):
            case "message":
                content = _content(item.get("content"))
                found.append(ChatMessage(role=item.get("role", "user"), content=content))
            case "function_call":
                if not found or found[-1].role != "assistant":
                    found.append(ChatMessage(role="assistant"))
                function = FunctionCalled(name=item.get("name", ""), arguments=item.get("arguments") or "")
                call = ChatToolCall(id=item.get("call_id", ""), function=function)
                calls = [*(found[-1].tool_calls or ()), call]
                found[-1] = found[-1].model_copy(update={"tool_calls": calls})
            case "function_call_output":
                content = _content(item.get("output"))
                found.append(ChatMessage(role="tool", tool_call_id=item.get("call_id", ""), content=content))
            case "reasoning":
                continue
            case other:
                raise RequestRefused(400, f"An item of the type {str(other)[:40]!r} is not understood.")
    return found


def _content(content: Any) -> Any:
    """Convert parts of content to those of chat completions."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "image_url", "image_url": part.get("image_url")}
        if isinstance(part, dict) and part.get("type") == "input_image"
        else part
        for part in content
    ]


def _without_type(one: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name != "type"}


@dataclass(frozen=True, slots=True)
class Form:
    """The common fields of all objects of a response."""

    wanted: ResponseBody
    id: str = field(default_factory=lambda: f"resp_{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def message_id(self) -> str:
        """The id of the response's message."""
        return self.id.replace("resp_", "msg_")

    def response(
        self,
        status: str,
        output: Sequence[Mapping[str, Any]] = (),
        used: Tally | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Return the response object of the API with this status, output and use of tokens."""
        asked = self.wanted.model_dump(exclude={"input", "stream", *_NOT_HERE})
        defaults = {"model": OWN_MODEL, "tools": [], "tool_choice": "auto", "metadata": {}}
        return {
            **asked,
            **{name: asked[name] or default for name, default in defaults.items()},
            "text": asked["text"] or {"format": {"type": "text"}},
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "output": output,
            "parallel_tool_calls": True,
            "truncation": "disabled",
            "usage": _usage(used) if used else None,
            **more,
        }

    def whole(self, sent: SentReply, used: Tally) -> dict[str, Any]:
        """Return the complete response."""
        text, ended = sent.text, sent.ended or AnswerEnded("stop")
        said = [self.message(text)] if text or not ended.calls else []
        output = [*said, *(called(call) for call in ended.calls)]
        if ended.reason == "length":
            return self.response(
                "incomplete", output, used, incomplete_details={"reason": "max_output_tokens"}
            )
        return self.response("completed", output, used)

    def message(self, text: str | None) -> dict[str, Any]:
        """Return the message; None while it has no text."""
        status = "in_progress" if text is None else "completed"
        content = [] if text is None else [part(text)]
        head = {"id": self.message_id, "type": "message", "role": "assistant"}
        return {**head, "status": status, "content": content}


def part(text: str) -> dict[str, Any]:
    """The text of a message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def called(call: ToolCall) -> dict[str, Any]:
    """A call of one of the client's functions."""
    return {
        "id": f"fc_{call.id}",
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.raw or call.arguments,
    }


def _usage(used: Tally) -> dict[str, Any]:
    return {
        "input_tokens": used.input_tokens,
        "input_tokens_details": {"cached_tokens": used.cached_tokens},
        "output_tokens": used.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.input_tokens + used.output_tokens,
    }


class ResponseReply(JsonReply):
    """Sends a response in one object."""

    form: Form

    def whole(self) -> dict[str, Any]:
        """The response."""
        return self.form.whole(self.sent_reply, self.answer.used)


class ResponseStream(StreamReply):
    """Sends a response as events, each with its number."""

    form: Form
    end = b""
    _number = -1
    _has_text = False

    def written(self, event: Mapping[str, Any]) -> Message:
        """Return an event with its name."""
        self._number += 1
        numbered = encoded({**event, "sequence_number": self._number})
        return piece_of_body(b"event: %b\ndata: %b\n\n" % (event["type"].encode(), numbered))

    def opening(self) -> Iterator[Mapping[str, Any]]:
        """Return the events for the start of the response."""
        for kind in ("created", "in_progress"):
            yield {"type": f"response.{kind}", "response": self.form.response("in_progress")}

    def events(self, piece: Piece) -> Iterator[Mapping[str, Any]]:
        """Yield the events that a piece adds."""
        match piece:
            case AnswerDelta(text=text, thought=False):
                yield from self._message_begins()
                yield self._of_text("output_text.delta", delta=text, logprobs=[])
            case AnswerDelta():
                # Reasoning would need a separate item before the message.
                return
            case AnswerEnded(calls=calls):
                if not calls:
                    yield from self._message_begins()
                yield from self._message_ends()
                for at, call in enumerate(calls, int(self._has_text)):
                    yield from _call_events(called(call), at)

    def closing(self) -> Iterator[Mapping[str, Any]]:
        """Return the events for the completed response."""
        whole = self.form.whole(self.sent_reply, self.answer.used)
        yield {"type": f"response.{whole['status']}", "response": whole}

    def failure(self, refused: RequestRefused) -> Mapping[str, Any]:
        """Return the event for a response that failed after its start."""
        error = {"code": "server_error", "message": refused.problem.message}
        return {"type": "response.failed", "response": self.form.response("failed", error=error)}

    def _message_begins(self) -> Iterator[Mapping[str, Any]]:
        if self._has_text:
            return
        self._has_text = True
        yield {"type": "response.output_item.added", "output_index": 0, "item": self.form.message(None)}
        yield self._of_text("content_part.added", part=part(""))

    def _message_ends(self) -> Iterator[Mapping[str, Any]]:
        if not self._has_text:
            return
        text = self.sent_reply.text
        yield self._of_text("output_text.done", text=text, logprobs=[])
        yield self._of_text("content_part.done", part=part(text))
        yield {"type": "response.output_item.done", "output_index": 0, "item": self.form.message(text)}

    def _of_text(self, kind: str, **fields: Any) -> Mapping[str, Any]:
        place = {"item_id": self.form.message_id, "output_index": 0, "content_index": 0}
        return {"type": f"response.{kind}", **place, **fields}


def _call_events(item: Mapping[str, Any], at: int) -> Iterator[Mapping[str, Any]]:
    begun, arguments = {**item, "status": "in_progress", "arguments": ""}, item["arguments"]
    place = {"item_id": item["id"], "output_index": at}
    yield {"type": "response.output_item.added", "output_index": at, "item": begun}
    yield {"type": "response.function_call_arguments.delta", **place, "delta": arguments}
    done = {"name": item["name"], "arguments": arguments}
    yield {"type": "response.function_call_arguments.done", **place, **done}
    yield {"type": "response.output_item.done", "output_index": at, "item": item}
