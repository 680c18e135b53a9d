"""The conversation in the JSON of chat completions.

Fields that a provider requires back (signed thinking, thought signatures) are passed through unchanged:
the provider refuses altered ones with 400.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from terp.events.messages import Assistant, Image, Message, Result, System, ToolCall, User
from terp.settings.providers import ECHOED
from terp.text.note_mark import NoteMark
from terp.text.plain import mended

# The line of a result that stands for a picture, or describes an attached one (`terp.session.observation`).
_NAMED = r"^({0}image: .*(?=\]$)|{0}Attachment: .* (?:PNG|JPEG|GIF) image, .*(?=\.$))"
_MARK = {"cache_control": {"type": "ephemeral"}}

Sent = Mapping[str, Any]
"""A message in the form of chat completions."""


def chat_messages(
    messages: Iterable[Message], *, vision: bool = False, echoed: Sequence[str] = ECHOED
) -> list[dict[str, Any]]:
    """Return the `messages` of a request; no content in it is empty, or text that UTF-8 cannot encode.

    Without `vision` a picture becomes a line of text. Of an `Assistant`'s extras only those named in
    `echoed` are sent: some providers refuse fields they do not know.

    A tool's answer cannot hold pictures in this format, and no other message may come between the answers to
    one reply, so pictures of results follow as a user's message after the last of them.
    """
    sent: list[dict[str, Any]] = []
    shown: list[Image] = []
    mark = NoteMark()
    for message in messages:
        if shown and not isinstance(message, Result):
            sent.append(_pictures(shown))
            shown = []
        match message:
            case System(text=text, note_word=word):
                mark = NoteMark(word)
                sent.append({"role": "system", "content": mended(text) or "(empty)"})
            case User(text=text, images=images):
                sent.append({"role": "user", "content": _content(mended(text), images, mark, vision=vision)})
            case Assistant():
                sent.append(_assistant(message, echoed))
            case Result(call_id=call_id, text=text, images=images):
                text = mended(text)
                answer = text if vision else _with_notes(text, images, mark)
                sent.append({"role": "tool", "tool_call_id": call_id, "content": answer or "(no output)"})
                shown.extend(images if vision else ())
    if shown:
        sent.append(_pictures(shown))
    return sent


def _content(
    text: str, images: Sequence[Image], mark: NoteMark, *, vision: bool
) -> str | list[dict[str, Any]]:
    if not images or not vision:
        return _with_notes(text, images, mark) or "(empty)"
    words = [{"type": "text", "text": text}] if text else []
    return [*words, *_parts(images)]


def _with_notes(text: str, images: Sequence[Image], mark: NoteMark) -> str:
    """Return the text for a model that reads no pictures; a line that names one says so."""
    if not images:
        return text
    pattern = re.compile(_NAMED.format(re.escape(mark.begins)), re.MULTILINE)
    marked, named = pattern.subn(r"\1, not sent: you read text only", text)
    many = "A picture is" if len(images) == 1 else f"{len(images)} pictures are"
    note = mark.note(f"{many} not sent: you read text only")
    return marked if named else f"{text}\n{note}".lstrip("\n")


def _parts(images: Iterable[Image]) -> Iterator[dict[str, Any]]:
    for image in images:
        yield {"type": "image_url", "image_url": {"url": f"data:{image.mime};base64,{image.data}"}}


def _pictures(images: Sequence[Image]) -> dict[str, Any]:
    which = "picture from the output" if len(images) == 1 else "pictures from the outputs"
    return {"role": "user", "content": [{"type": "text", "text": f"The {which} above:"}, *_parts(images)]}


def _assistant(message: Assistant, echoed: Sequence[str]) -> dict[str, Any]:
    extras = {name: message.extras[name] for name in echoed if name in message.extras}
    if message.calls:
        calls = [_call(call) for call in message.calls]
        return {"role": "assistant", "content": message.text or None, "tool_calls": calls, **extras}
    return {"role": "assistant", "content": message.text or "(no answer)", **extras}


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    extras = dict(call.extras)
    inner: Mapping[str, Any] = extras.pop("function", {})
    return {"id": call.id, "type": "function", "function": {**function, **inner}, **extras}


def cache_points(messages: Sequence[Sent]) -> list[int]:
    """Return the places of the messages that are marked, in order."""
    replies = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    last_request = [replies[-1] - 1] if replies else []
    system = [0] if messages and messages[0]["role"] == "system" else []
    return sorted({at for at in (*system, *last_request, len(messages) - 1) if at >= 0})


def with_cache_points(messages: Sequence[Sent]) -> list[Sent]:
    """Return the messages with their marks, as OpenRouter takes them: in a part of the content."""
    places = set(cache_points(messages))
    return [_with_cache_point(message) if at in places else message for at, message in enumerate(messages)]


def _with_cache_point(message: Sent) -> Sent:
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    texts = [at for at, part in enumerate(parts) if part["type"] == "text"]
    if texts:
        parts[texts[-1]] = {**parts[texts[-1]], **_MARK}
    return {**message, "content": parts}
