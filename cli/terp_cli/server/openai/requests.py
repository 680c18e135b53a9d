"""Reads a request: the part of its conversation that was answered before, and its new messages."""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from terp.events.messages import Assistant, Image, Message, Result, ToolCall, User
from terp.models import tool
from terp.text.dataclasses import dataclass, field
from terp_cli.server.failures import RequestRefused
from terp_cli.server.openai.forms import ChatBody, ChatMessage
from terp_cli.server.opening import SessionRequest, checked_settings
from terp_cli.server.transcript import decoded

OWN_MODEL = "terp"
"""The name under which clients ask for the model that the server was started with."""
_DATA_URL = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,(.+)", re.DOTALL)
_NO_RESULT = "Not run: no result came."


@dataclass(frozen=True, slots=True)
class NewMessages:
    """The new messages: text, pictures, and results of the client's tools by call."""

    text: str
    images: tuple[Image, ...] = ()
    results: Mapping[str, str] = field(default_factory=dict)
    has_words: bool = True


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A parsed request. `past` are the messages up to the last one of the assistant.

    `demands` are fields that are passed to the model's provider.
    """

    system: str
    past: Sequence[ChatMessage]
    new: NewMessages
    tools: Mapping[str, Mapping[str, Any]]
    wishes: SessionRequest
    messages: Sequence[ChatMessage]
    demands: Mapping[str, Any] = field(default_factory=dict)


def read_request(wanted: ChatBody, own_model: str = "") -> ChatRequest:
    """Return the request of a client, read and checked.

    Raises:
        RequestRefused: it asks for something that terp does not support.
    """
    if (wanted.n or 1) != 1:
        raise RequestRefused(400, "n must be 1: there is one answer.", code="unsupported_value")
    try:
        settings = checked_settings(wanted.settings)
    except ValueError as error:
        raise RequestRefused(400, str(error), code="invalid_value") from error
    spoken = [message for message in wanted.messages if message.role not in ("system", "developer")]
    system = [text_of(message) for message in wanted.messages if message.role in ("system", "developer")]
    at = max((at for at, message in enumerate(spoken, 1) if message.role == "assistant"), default=0)
    tools = _tools(wanted)
    model = "" if wanted.model in (OWN_MODEL, own_model) else wanted.model
    return ChatRequest(
        "\n\n".join(text for text in system if text),
        spoken[:at],
        new_messages(spoken[at:]),
        tools,
        SessionRequest(model=model, settings=settings),
        spoken,
        _demands(wanted, tools),
    )


def new_messages(messages: Sequence[ChatMessage]) -> NewMessages:
    """Return the new part: the messages after the last answer.

    Raises:
        RequestRefused: there is no new message, or a picture cannot be read.
    """
    if not messages:
        raise RequestRefused(400, "The last message must be of the user, or the result of a tool.")
    users = [message for message in messages if message.role == "user"]
    results = {message.tool_call_id: text_of(message) for message in messages if message.role == "tool"}
    words = "\n\n".join(text for message in users if (text := text_of(message)))
    images = tuple(image for message in users for image in images_of(message))
    if users and not (words.strip() or images):
        raise RequestRefused(400, "The last message is empty.", code="nothing_asked")
    return NewMessages(words, images, results, bool(users))


def history(messages: Iterable[ChatMessage]) -> list[Message]:
    """Return the messages in the session's form; every call has its result.

    Raises:
        RequestRefused: a result has no call, or a picture cannot be read.
    """
    found: list[Message] = []
    unanswered: list[str] = []
    for message in messages:
        if message.role == "tool":
            if message.tool_call_id not in unanswered:
                raise RequestRefused(400, f"No call {message.tool_call_id[:80]!r} stands before its result.")
            unanswered.remove(message.tool_call_id)
            found.append(Result(message.tool_call_id, text_of(message) or "(no output)"))
            continue
        found += [Result(call_id, _NO_RESULT) for call_id in unanswered]
        unanswered = [call.id for call in message.tool_calls or ()]
        found.append(_message(message))
    return [*found, *(Result(call_id, _NO_RESULT) for call_id in unanswered)]


def with_results(messages: Iterable[Message], results: Mapping[str, str]) -> list[Message]:
    """Return the session's messages, with placeholders replaced by the results of the client's tools."""
    return [
        Result(message.call_id, results[message.call_id] or "(no output)")
        if isinstance(message, Result) and message.call_id in results
        else message
        for message in messages
    ]


def fingerprint(messages: Iterable[ChatMessage], wishes: SessionRequest) -> str:
    """Return a hash that is the same for an ended conversation and for the request that continues it.

    Clients strip answers and drop unknown fields, so only the texts count, without the white space
    around them.
    """
    essence = [
        [
            message.role,
            text_of(message).strip(),
            [image.data for image in images_of(message)],
            [call.id for call in message.tool_calls or ()],
            message.tool_call_id,
        ]
        for message in messages
    ]
    whole = json.dumps([wishes.model, sorted(wishes.settings.items()), essence])
    return hashlib.sha256(whole.encode()).hexdigest()


def text_of(message: ChatMessage) -> str:
    """Return the text of a message."""
    if isinstance(message.content, list):
        return "\n\n".join(
            str(part.get("text") or part.get("refusal") or "")
            for part in message.content
            if part.get("type") in ("text", "input_text", "output_text", "refusal")
        )
    return message.content or ""


def images_of(message: ChatMessage) -> Iterator[Image]:
    """Return the pictures of a message.

    Raises:
        RequestRefused: a part is neither text nor an embedded picture.
    """
    for part in message.content if isinstance(message.content, list) else ():
        kind = part.get("type")
        if kind == "image_url":
            yield _image(part)
        elif kind not in ("text", "input_text", "output_text", "refusal"):
            raise RequestRefused(400, f"A message holds text and pictures, and no {str(kind)[:40]!r}.")


def _image(part: Mapping[str, Any]) -> Image:
    given = part.get("image_url")
    url = given.get("url") if isinstance(given, dict) else given
    match = _DATA_URL.fullmatch(str(url))
    if match is None:
        raise RequestRefused(
            400,
            "A picture must be embedded as a data URL with the base64 of a PNG, JPEG, GIF or WebP.",
            "The server fetches nothing.",
            code="invalid_image_url",
        )
    try:
        base64.b64decode(match[2], validate=True)
    except binascii.Error as error:
        raise RequestRefused(400, f"A picture is no base64: {error}.", code="invalid_image_url") from error
    return Image(match[1], match[2])


def _message(message: ChatMessage) -> Message:
    if message.role == "user":
        return User(text_of(message), tuple(images_of(message)))
    calls = tuple(
        _call(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()
    )
    return Assistant(text_of(message), calls)


def _call(call_id: str, name: str, written: str) -> ToolCall:
    usable = decoded(written) is not None
    return ToolCall(call_id, name, written if usable else "{}", "" if usable else written)


def _tools(wanted: ChatBody) -> Mapping[str, Mapping[str, Any]]:
    if wanted.functions or wanted.function_call:
        raise RequestRefused(
            400,
            "functions and function_call are not understood.",
            "Send them as tools and tool_choice.",
            code="unsupported_parameter",
        )
    if wanted.tool_choice == "none":
        return {}
    found = {one.function.name: one.model_dump() for one in wanted.tools or ()}
    if tool.NAME in found:
        raise RequestRefused(400, f"The tool {tool.NAME!r} is terp's own. Give yours another name.")
    return found


def _demands(wanted: ChatBody, tools: Mapping[str, object]) -> Mapping[str, Any]:
    """Return the fields of a request that are passed to the provider unchanged."""
    found: dict[str, Any] = {} if wanted.top_p is None else {"top_p": wanted.top_p}
    choice, form = wanted.tool_choice, wanted.response_format or {"type": "text"}
    if choice not in (None, "auto", "none"):
        if not (choice == "required" and tools) and _chosen(choice) not in tools:
            raise RequestRefused(
                400,
                "tool_choice may be 'auto', 'none', 'required', or one of the functions in tools.",
                code="unsupported_value",
            )
        found["tool_choice"] = choice
    if form.get("type") not in ("text", "json_object", "json_schema"):
        raise RequestRefused(
            400, "response_format may be text, json_object or json_schema.", code="unsupported_value"
        )
    if form["type"] != "text":
        found["response_format"] = form
    return found


def _chosen(choice: str | dict[str, Any] | None) -> str:
    """Return the name of the function that a `tool_choice` forces; "" if it forces none."""
    function = choice.get("function") if isinstance(choice, dict) else None
    return str(function.get("name", "")) if isinstance(function, dict) else ""
