r"""The file of a recording: one JSON object on a line for each call of the model, in their order.

    {"request": {"model": …, "messages": […], "tools": […], "sampling": {…}}, "reply": […], "usage": {…}}

`request` is described in `recorded_request`. A field that is taken out of a request matches anything; a
request of null answers by its turn only (mode "sequence"). `"too_long": true` stands in place of a reply
if the model refused a request of that length, so that a replay compacts again. `"skip": true` takes an entry
out, `"pin": true` lets it answer every time. Blank lines, and lines that begin with `#` or `//`, are ignored.
The file is made to be edited by hand. `reply` is a list of:

    {"text": "…"}                  whole text, or a list of lines; replayed six characters at a time
    {"text_pieces": ["…", "…"]}    text as it arrived; replayed in the same pieces
    {"reasoning": "…"}, {"reasoning_pieces": […]}
    {"call": {"name": "execute", "arguments": {"language": "python", "code": ["line", "line"]}}}
    {"call": {"name": "execute", "id": "…", "pieces": ["{\"langu", …]}}

A call without a name is `execute`; `code` is a text or a list of lines. A call's pieces that arrived
later than those of another call stand in a call with the same `position` (0 is the reply's first).
"""

import errno
import json
import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from terp.errors import ContextFull, SettingsError
from terp.events.messages import Assistant, Message, ToolCall
from terp.events.model import CallDelta, Chunk, ReasoningChunk, Replied, TextChunk, Usage
from terp.models.tool import NAME, fresh_ids, ids_in, tool_call
from terp.secrets.redactor import Redactor
from terp.text.dataclasses import dataclass

_FIELDS = {"request", "reply", "usage", "finish", "extras", "too_long", "pin", "skip"}
_PIECE = 6
_Lane = tuple[str, int]


@dataclass(frozen=True, slots=True)
class RecordingEntry:
    """One call of a recording; `line` is where it stands in the file, from 1."""

    line: int
    request: Mapping[str, Any] | None
    fields: Mapping[str, Any]

    @property
    def _was_too_long(self) -> bool:
        return self.fields.get("too_long") is True

    def check(self) -> None:
        """Raise unless the reply is valid.

        Raises:
            ValueError: the reply is malformed.
        """
        if not self._was_too_long:
            self.chunks()

    @property
    def is_pinned(self) -> bool:
        """Return True if it answers every time instead of once."""
        return bool(self.fields.get("pin"))

    def chunks(self, messages: Sequence[Message] = ()) -> list[Chunk]:
        """Return its reply, as the answer to `messages`.

        Raises:
            ContextFull: the request was too long for the model.
        """
        if self._was_too_long:
            raise ContextFull(
                f"According to the recording, this request was too long for the model (line {self.line})."
            )
        return reply_from_json(self.fields, messages)


class Recording:
    """The file of a recording."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def entries(self) -> list[RecordingEntry]:
        """Return all entries that are not skipped.

        Raises:
            SettingsError: the file cannot be read, or lines are malformed; the message lists them.
        """
        try:
            lines = self.path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError([f"{self.path}: cannot be read as a recording: {error}"]) from error
        entries, problems = [], []
        for number, line in enumerate(lines, start=1):
            if not line.strip() or line.lstrip().startswith(("#", "//")):
                continue
            try:
                entries.append(_entry(number, line))
            except ValueError as error:
                problems.append(f"{self.path}:{number}: {error}")
        if problems:
            raise SettingsError(problems)
        return [entry for entry in entries if not entry.fields.get("skip")]

    def append(self, fields: Mapping[str, Any]) -> None:
        """Add an entry as one line with one write, so that recordings made at once do not mix.

        Raises:
            SettingsError: the file cannot be written.
        """
        self._write(json.dumps(fields, ensure_ascii=False).encode(errors="replace") + b"\n")

    def make_sure_it_can_be_written(self) -> None:
        """Create the file if it is missing, readable only by its owner.

        Raises:
            SettingsError: the file cannot be written.
        """
        self._write(b"")

    def _write(self, line: bytes) -> None:
        try:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                size = os.fstat(file).st_size
                if line and size and os.pread(file, 1, size - 1) != b"\n":
                    line = b"\n" + line
                if os.write(file, line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            finally:
                os.close(file)
        except OSError as error:
            raise SettingsError([f"{self.path}: cannot be written: {error.strerror}"]) from error


def _entry(number: int, line: str) -> RecordingEntry:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} at column {error.colno}.") from error
    if not isinstance(fields, dict):
        raise BadReply("must be a JSON object with `request` and `reply`.")
    if unknown := fields.keys() - _FIELDS:
        raise BadReply(f"unknown field `{min(unknown)}`; an entry has {', '.join(sorted(_FIELDS))}.")
    request = fields.get("request")
    if not isinstance(request, dict | None):
        raise BadReply("`request` must be an object or null.")
    entry = RecordingEntry(number, request, fields)
    entry.check()
    return entry


class BadReply(ValueError):
    """A recorded reply is not in the form above; the message names the mistake."""


def reply_as_json(chunks: Sequence[Chunk], replied: Replied, redactor: Redactor) -> dict[str, Any]:
    """Return the fields `reply`, `usage`, `finish` and `extras` of an entry; secrets are taken out."""
    items: list[dict[str, Any]] = []
    seen: set[int] = set()
    for (kind, position), run in groupby(_redacted(chunks, redactor), key=lambda piece: piece[0]):
        pieces = [text for _, text, _ in run if text or kind == "call"]
        if kind != "call":
            items += [{f"{kind}_pieces": pieces}] if pieces else []
        elif position in seen:
            items.append({"call": {"position": position, "pieces": pieces}})
        else:
            seen.add(position)
            items.append({"call": _call_as_json(replied.message.calls[position], pieces, redactor)})
    entry: dict[str, Any] = {"reply": items}
    for usage in [chunk for chunk in chunks if isinstance(chunk, Usage)][-1:]:
        entry["usage"] = {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
            "cost_usd": usage.cost_usd,
        }
    if replied.finish_reason:
        entry["finish"] = replied.finish_reason
    if replied.message.extras:
        entry["extras"] = redactor.redacted_value(replied.message.extras)
    return entry


def _call_as_json(call: ToolCall, pieces: Sequence[str], redactor: Redactor) -> dict[str, Any]:
    written: dict[str, Any] = {"name": call.name, "id": call.id, "pieces": pieces}
    return {**written, "extras": redactor.redacted_value(call.extras)} if call.extras else written


def _redacted(chunks: Sequence[Chunk], redactor: Redactor) -> list[tuple[_Lane, str, str]]:
    """Redact pieces, given as (lane, text, name); the pieces of a lane are searched as one text."""
    pieces: list[tuple[_Lane, str, str]] = []
    for chunk in chunks:
        match chunk:
            case TextChunk(text=text):
                pieces.append((("text", 0), text, ""))
            case ReasoningChunk(text=text):
                pieces.append((("reasoning", 0), text, ""))
            case CallDelta(position=position, name=name, arguments=arguments):
                pieces.append((("call", position), arguments, name))
            case _:
                pass
    clean = {
        lane: iter(redactor.redacted_pieces([text for other, text, _ in pieces if other == lane]))
        for lane in {lane for lane, _, _ in pieces}
    }
    return [(lane, next(clean[lane]), name) for lane, _, name in pieces]


def reply_from_json(entry: Mapping[str, Any], messages: Sequence[Message] = ()) -> list[Chunk]:
    """Return the chunks of an entry as the answer to `messages`; calls get ids that are not in use.

    Raises:
        BadReply: the entry is not in the form above.
    """
    items = entry.get("reply")
    if not isinstance(items, list):
        raise BadReply("`reply` must be a list.")
    reader = _ReplyReader(messages)
    for number, item in enumerate(items, start=1):
        try:
            reader.read(item)
        except BadReply as problem:
            raise BadReply(f"item {number} of `reply`: {problem}") from problem
    usage = [_usage(entry["usage"])] if entry.get("usage") else []
    message = reader.message(_object(entry.get("extras") or {}, "`extras`"))
    return [*reader.chunks, *usage, Replied(message, _text(entry.get("finish", ""), "`finish`"))]


class _ReplyReader:
    """Reads the items of one reply in their order."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.chunks: list[Chunk] = []
        self._calls: list[Mapping[str, Any]] = []
        self._used = ids_in(messages)
        self._fresh = fresh_ids(messages)

    def read(self, item: Any) -> None:
        match item:
            case {"text": text, **rest} if not rest:
                self.chunks += map(TextChunk, _cut(_lines(text, "`text`")))
            case {"text_pieces": pieces, **rest} if not rest:
                self.chunks += map(TextChunk, filter(None, _pieces(pieces)))
            case {"reasoning": text, **rest} if not rest:
                self.chunks += map(ReasoningChunk, _cut(_lines(text, "`reasoning`")))
            case {"reasoning_pieces": pieces, **rest} if not rest:
                self.chunks += map(ReasoningChunk, filter(None, _pieces(pieces)))
            case {"call": dict() as call, **rest} if not rest:
                self._read_call(call)
            case _:
                raise BadReply(
                    f"must be an object with `text`, `reasoning` or `call`, not {json.dumps(item)[:60]}"
                )

    def _read_call(self, call: dict[str, Any]) -> None:
        unknown = call.keys() - {"name", "id", "arguments", "pieces", "position", "extras"}
        if unknown:
            raise BadReply(f"`call` has no `{min(unknown)}`")
        pieces = _pieces(call["pieces"]) if "pieces" in call else _cut(_arguments(call.get("arguments", {})))
        position = call.get("position", len(self._calls))
        name = ""
        if position == len(self._calls):
            name = _text(call.get("name", NAME), "`name`")
            self._calls.append(call)
        elif position not in range(len(self._calls)):
            raise BadReply("`position` is not that of an earlier call")
        for number, piece in enumerate(pieces or [""]):
            self.chunks.append(CallDelta(position, name if number == 0 else "", piece))

    def message(self, extras: Mapping[str, Any]) -> Assistant:
        """Return the whole message, joined from the pieces."""
        text = "".join(chunk.text for chunk in self.chunks if isinstance(chunk, TextChunk))
        reasoning = "".join(chunk.text for chunk in self.chunks if isinstance(chunk, ReasoningChunk))
        calls = tuple(self._call(position, call) for position, call in enumerate(self._calls))
        return Assistant(text, calls, reasoning, extras)

    def _call(self, position: int, call: Mapping[str, Any]) -> ToolCall:
        call_id = _text(call.get("id", ""), "`id`")
        if not call_id or call_id in self._used:
            call_id = next(self._fresh)
        self._used.add(call_id)
        mine = (chunk for chunk in self.chunks if isinstance(chunk, CallDelta) and chunk.position == position)
        written = "".join(chunk.arguments for chunk in mine)
        return tool_call(call_id, _text(call.get("name", NAME), "`name`"), written, call.get("extras"))


def _arguments(value: Any) -> str:
    if isinstance(value, str):
        return value
    arguments = _object(value, "`arguments`")
    if isinstance(arguments.get("code"), list):
        arguments = {**arguments, "code": _lines(arguments["code"], "`code`")}
    return json.dumps(arguments, ensure_ascii=False)


def _lines(value: Any, what: str) -> str:
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if isinstance(value, str):
        return value
    raise BadReply(f"{what} must be a string or a list of lines")


def _pieces(value: Any) -> list[str]:
    if isinstance(value, list) and all(isinstance(piece, str) for piece in value):
        return value
    raise BadReply("pieces must be a list of strings")


def _cut(text: str) -> list[str]:
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


def _text(value: Any, what: str) -> str:
    if isinstance(value, str):
        return value
    raise BadReply(f"{what} must be a string")


def _object(value: Any, what: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise BadReply(f"{what} must be an object")


def _usage(value: Any) -> Usage:
    counts = _object(value, "`usage`")
    try:
        return Usage(**{"input_tokens": 0, "output_tokens": 0, **counts})
    except TypeError as error:
        raise BadReply("`usage` has input_tokens, output_tokens, cached_tokens and cost_usd") from error
