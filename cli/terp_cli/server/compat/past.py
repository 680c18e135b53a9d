"""From the protocol's messages to what the model is told."""

import base64
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from terp.events.messages import Assistant, Attachment, Image, Message, Result, ToolCall, User
from terp.models.tool import NAME

_PICTURES = {"base64.png": "image/png", "base64.jpeg": "image/jpeg", "base64": "image/png"}
_NOT_RUN = "Not run."
_NO_OUTPUT = "The code ran; it has no output."


def conversation_of(messages: Sequence[Mapping[str, Any]]) -> list[Message]:
    """The same conversation for a model: code as calls, and what came of it as their results."""
    told: list[Message] = []
    for message in messages:
        role, type_ = message.get("role", "user"), message.get("type", "message")
        if role == "assistant" and type_ == "code":
            _add_call(told, message)
        elif role == "assistant" and type_ == "message":
            told.append(Assistant(text_of(message)))
        elif role == "computer" and told and isinstance(told[-1], Result):
            told[-1] = _with_output(told[-1], message)
        else:
            told.append(User(text_of(message), _images(message)))
    return told


def asked_in(messages: Sequence[Mapping[str, Any]]) -> tuple[str, tuple[Attachment, ...]]:
    """What messages ask: their text, and the pictures that go with it."""
    texts, attachments = list[str](), list[Attachment]()
    for message in messages:
        pictures = _images(message)
        if pictures:
            name = f"picture {len(attachments) + 1}"
            size = len(base64.b64decode(pictures[0].data))
            note = f"[Attachment: {name}] {pictures[0].mime}, {size:,} bytes."
            attachments.append(Attachment(name, note, pictures[0]))
        else:
            texts.append(text_of(message))
    return "\n\n".join(text for text in texts if text), tuple(attachments)


def text_of(message: Mapping[str, Any]) -> str:
    """A message in words."""
    type_, content = message.get("type", "message"), message.get("content", "")
    if isinstance(content, bytes):
        return f"[{type_}: {len(content):,} bytes]"
    if type_ in ("file", "image", "audio") and message.get("format") == "path":
        return f"[{type_}: {content}]"
    if type_ in ("image", "audio"):
        return f"[{type_}: {message.get('format', '')}, {len(str(content)):,} characters]"
    # JSON can hold half of a surrogate pair, which no provider takes.
    return content.encode(errors="replace").decode() if isinstance(content, str) else json.dumps(content)


def _add_call(told: list[Message], message: Mapping[str, Any]) -> None:
    arguments = json.dumps({"language": message.get("format") or "python", "code": text_of(message)})
    call = ToolCall(f"call_{secrets.token_hex(8)}", NAME, arguments)
    said = told.pop().text if told and _only_said(told[-1]) else ""
    told += [Assistant(said, (call,)), Result(call.id, _NOT_RUN)]


def _only_said(message: Message) -> Any:
    return isinstance(message, Assistant) and not message.calls


def _with_output(result: Result, message: Mapping[str, Any]) -> Result:
    before = "" if result.text in (_NOT_RUN, _NO_OUTPUT) else result.text
    text = before + ("" if _images(message) else text_of(message))
    return Result(result.call_id, text or _NO_OUTPUT, (*result.images, *_images(message)))


def _images(message: Mapping[str, Any]) -> tuple[Image, ...]:
    return tuple(_pictures(message))


def _pictures(message: Mapping[str, Any]) -> Iterator[Image]:
    mime = _PICTURES.get(str(message.get("format", "")), "")
    content = message.get("content")
    if message.get("type") != "image" or not mime or not isinstance(content, str):
        return
    data = content.partition("base64,")[2] if content.startswith("data:") else content
    try:
        size = len(base64.b64decode(data, validate=True))
    except ValueError:
        return
    if size:
        yield Image(mime, data)
