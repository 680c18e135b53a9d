"""From the protocol's messages to the model's: history, prompt, sound files, and code that a client sent."""

import base64
import json
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from itertools import count
from typing import Any

from terp.events import Event
from terp.events.messages import Assistant, Attachment, Image, Message, Result, ToolCall, User
from terp.events.model import Chunk, Model, ModelWrapper, Replied
from terp.models.tool import NAME
from terp.session.session import Session
from terp_cli.server.tree import Tree

_PICTURES = {"base64.png": "image/png", "base64.jpeg": "image/jpeg", "base64": "image/png"}
_NOT_RUN = "Not run."
_NO_OUTPUT = "The code ran; it has no output."


def conversation_of(messages: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Return the conversation in the model's form: code as tool calls, its outputs as their results."""
    found: list[Message] = []
    for message in messages:
        role, type_ = message.get("role", "user"), message.get("type", "message")
        if role == "assistant" and type_ == "code":
            _add_call(found, message)
        elif role == "assistant" and type_ == "message":
            found.append(Assistant(text_of(message)))
        elif role == "computer" and found and isinstance(found[-1], Result):
            found[-1] = _with_output(found[-1], message)
        else:
            found.append(User(text_of(message), _images(message)))
    return found


def asked_in(messages: Sequence[Mapping[str, Any]]) -> tuple[str, tuple[Attachment, ...]]:
    """Return the prompt that messages contain: their text, and their pictures."""
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
    """Return a message as text."""
    type_, content = message.get("type", "message"), message.get("content", "")
    if isinstance(content, bytes):
        return f"[{type_}: {len(content):,} bytes]"
    if type_ in ("file", "image", "audio") and message.get("format") == "path":
        return f"[{type_}: {content}]"
    if type_ in ("image", "audio"):
        return f"[{type_}: {message.get('format', '')}, {len(str(content)):,} characters]"
    # JSON can hold half of a surrogate pair, which no provider takes.
    return content.encode(errors="replace").decode() if isinstance(content, str) else json.dumps(content)


def _add_call(found: list[Message], message: Mapping[str, Any]) -> None:
    call = _call(message.get("format") or "python", text_of(message))
    last, said = found[-1] if found else None, ""
    if isinstance(last, Assistant) and not last.calls:
        said = last.text
        found.pop()
    found += [Assistant(said, (call,)), Result(call.id, _NOT_RUN)]


def _call(language: str, code: str) -> ToolCall:
    arguments = json.dumps({"language": language, "code": code})
    return ToolCall(f"call_{secrets.token_hex(8)}", NAME, arguments)


def _with_output(result: Result, message: Mapping[str, Any]) -> Result:
    before = "" if result.text in (_NOT_RUN, _NO_OUTPUT) else result.text
    text = before + ("" if _images(message) else text_of(message))
    return Result(result.call_id, text or _NO_OUTPUT, (*result.images, *_images(message)))


def _images(message: Mapping[str, Any]) -> tuple[Image, ...]:
    mime = _PICTURES.get(str(message.get("format", "")), "")
    content = message.get("content")
    if message.get("type") != "image" or not mime or not isinstance(content, str):
        return ()
    data = content.partition("base64,")[2] if content.startswith("data:") else content
    try:
        size = len(base64.b64decode(data, validate=True))
    except ValueError:
        return ()
    return (Image(mime, data),) if size else ()


class InjectedModel(ModelWrapper):
    """A model that first replies with the client's code, then with the replies of the wrapped model.

    It calls `expect` with the code at the first reply, and with "" at the first request to the wrapped model.
    """

    def __init__(self, inner: Model, language: str, code: str, expect: Callable[[str], None]) -> None:
        super().__init__(inner)
        self._language = language
        self._code = code
        self._expect = expect
        self._replied = False

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Yield the code without a request; later, send requests to the wrapped model."""
        if not self._replied:
            self._replied = True
            self._expect(self._code)
            yield Replied(Assistant("", (_call(self._language, self._code),)), "tool_calls")
            return
        self._expect("")
        async with aclosing(self._inner.stream(messages, tools)) as chunks:
            async for chunk in chunks:
                yield chunk


async def turn_with(
    session: Session,
    prompt: str,
    attachments: Sequence[Attachment],
    *,
    language: str,
    code: str,
    expect: Callable[[str], None],
) -> AsyncGenerator[Event, None]:
    """Run a turn whose first reply is this code; `expect` is called with the code before its proposal."""
    model = session.model
    session.model = InjectedModel(model, language, code, expect)
    try:
        async with aclosing(session.turn(prompt, attachments)) as events:
            async for event in events:
                yield event
    finally:
        session.model = model
        expect("")


async def with_files(messages: Sequence[Mapping[str, Any]], files: Tree) -> list[dict[str, Any]]:
    """Return the messages; each sound is saved as a file of the session, and its message names the file.

    Raises:
        RequestRefused: a file cannot be written.
    """
    kept = []
    for message in messages:
        sound, named = _sound_in(message), dict(message)
        if sound:
            name = await _unused(files)
            await files.write(name, _once(sound))
            named = {**message, "type": "audio", "format": "path", "content": name}
        kept.append(named)
    return kept


def _sound_in(message: Mapping[str, Any]) -> bytes:
    content = message.get("content")
    if isinstance(content, bytes):
        return content
    if message.get("type") != "audio" or message.get("format") == "path" or not isinstance(content, str):
        return b""
    try:
        return base64.b64decode(content, validate=True)
    except ValueError:
        return b""


async def _unused(files: Tree) -> str:
    taken = {entry.path for entry in files.listed()[0]}
    return next(name for number in count(1) if (name := f"sound-{number}.wav") not in taken)


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
