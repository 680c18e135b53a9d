"""A request as it is recorded: without secrets, and without parts that differ from run to run."""

import difflib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from terp.events.messages import Assistant, Image, Message, Result, System, ToolCall, User
from terp.secrets.redactor import Redactor
from terp.text.note_mark import NoteMark

_DIFF_LINES = 30
_LINE_WIDTH = 160


def request_as_json(
    model: str,
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]],
    sampling: Mapping[str, Any],
    redactor: Redactor,
) -> dict[str, Any]:
    """Return the request; two that differ only in paths, ids, addresses, dates and timings are equal.

    So are two of which the sessions have different words to mark notes.

    Dates and times are compared only in messages of the user. Reasoning and provider fields are
    left out, and so are the pixels of plots, which change with the version of a library.
    """
    names = _CallNames()
    word = next((message.note_word for message in messages if isinstance(message, System)), "")
    return {
        "model": model,
        "messages": [_message(_unmarked(message, word), names, redactor) for message in messages],
        "tools": redactor.redacted_value(list(tools)),
        "sampling": redactor.redacted_value(dict(sampling)),
    }


def answers(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Return True if a recorded request matches this one. A field taken out of the file matches anything."""
    return all(key in asked and asked[key] == value for key, value in recorded.items())


def difference(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Return the first part in which two requests differ, as a unified diff; "" for equal ones."""
    before, after = _parts(recorded), _parts({key: asked[key] for key in recorded if key in asked})
    for number in range(max(len(before), len(after))):
        old_name, old = before[number] if number < len(before) else ("nothing", "")
        new_name, new = after[number] if number < len(after) else ("nothing", "")
        if (old_name, old) != (new_name, new):
            lines = difflib.unified_diff(
                old.split("\n"),
                new.split("\n"),
                f"recorded: {old_name}",
                f"asked: {new_name}",
                n=2,
                lineterm="",
            )
            return "\n".join(line[:_LINE_WIDTH] for line in list(lines)[:_DIFF_LINES])
    return ""


def likeness(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> tuple[int, float]:
    """Return the equal parts from the start, and the likeness of the next part (0 to 1)."""
    before, after = _parts(recorded), _parts({key: asked[key] for key in recorded if key in asked})
    equal = next((n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), None)
    if equal is None:
        return min(len(before), len(after)), 0.0
    return equal, difflib.SequenceMatcher(None, before[equal][1], after[equal][1]).quick_ratio()


def digest(request: Mapping[str, Any]) -> str:
    """Return a digest that is equal for equal requests."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


class _CallNames:
    """Replaces the ids of a conversation's calls by numbers, as ids differ from run to run.

    Some servers reuse an id in the next reply; a replay gives the later call another one.
    """

    def __init__(self) -> None:
        self._latest: dict[str, str] = {}
        self._numbers = count(1)

    def new(self, call_id: str) -> str:
        self._latest[call_id] = f"call {next(self._numbers)}"
        return self._latest[call_id]

    def of(self, call_id: str) -> str:
        return self._latest.get(call_id, "no call")


def _unmarked(message: Message, word: str) -> Message:
    return replace(message, text=NoteMark(word).without(message.text)) if word else message


def _message(message: Message, names: _CallNames, redactor: Redactor) -> dict[str, Any]:
    match message:
        case System(text=text):
            return {"role": "system", "text": redactor.steady(text, times=True)}
        case User(text=text, images=images):
            return {
                "role": "user",
                "text": redactor.steady(text),
                **_images([_fingerprint(i) for i in images]),
            }
        case Assistant(text=text, calls=calls):
            asked = [_call(call, names, redactor) for call in calls]
            return {"role": "assistant", "text": redactor.steady(text), **({"calls": asked} if asked else {})}
        case Result(call_id=call_id, text=text, images=images):
            answer = {"role": "result", "of": names.of(call_id), "text": redactor.steady(text, times=True)}
            return {**answer, **_images([image.mime for image in images])}


def _call(call: ToolCall, names: _CallNames, redactor: Redactor) -> dict[str, Any]:
    try:
        arguments = _steady_value(json.loads(call.arguments), redactor)
    except ValueError:
        arguments = redactor.steady(call.arguments)
    written: dict[str, Any] = {"id": names.new(call.id), "name": call.name, "arguments": arguments}
    return {**written, "raw": redactor.steady(call.raw)} if call.raw else written


def _steady_value(value: Any, redactor: Redactor) -> Any:
    match value:
        case str():
            return redactor.steady(value)
        case dict():
            return {key: _steady_value(part, redactor) for key, part in value.items()}
        case [*parts]:
            return [_steady_value(part, redactor) for part in parts]
    return value


def _images(names: Sequence[str]) -> dict[str, Any]:
    return {"images": list(names)} if names else {}


def _fingerprint(image: Image) -> str:
    return f"{image.mime} {hashlib.sha256(image.data.encode()).hexdigest()[:16]}"


def _parts(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (name, readable text) of all parts of a request, in the order of comparison."""
    parts = [(key, _readable(request[key])) for key in ("model", "sampling", "tools") if key in request]
    for number, message in enumerate(request.get("messages") or [], start=1):
        role = message.get("role", "?") if isinstance(message, dict) else "?"
        parts.append((f"message {number} ({role})", _readable(message)))
    return parts


def _readable(value: Any, indent: str = "") -> str:
    match value:
        case str():
            return value.replace("\n", f"\n{indent}")
        case dict():
            return f"\n{indent}".join(
                f"{key}: {_readable(part, indent + '  ')}" for key, part in value.items()
            )
        case [*parts]:
            return "".join(f"\n{indent}- {_readable(part, indent + '  ')}" for part in parts)
    return json.dumps(value)
