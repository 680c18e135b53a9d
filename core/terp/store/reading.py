"""Reading of stored sessions."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import jiter

from terp.errors import SessionError
from terp.events import (
    CodeFinished,
    HistoryRewound,
    KernelChanged,
    ReasoningDelta,
    TextDelta,
    TurnStarted,
    UsageReported,
    wire,
)
from terp.events.log import Record
from terp.events.messages import Assistant, Result
from terp.events.run_log import KernelNames
from terp.session.context.history import Appended, History
from terp.session.cost.budget import Tally
from terp.session.keeping import LeftOver, Stored
from terp.store.forms import VERSION, Header, change_from_json, header_from_json
from terp.store.journal import NAME
from terp.text.dataclasses import dataclass, field
from terp.text.importing import collection_put_off

_EVENT, _HISTORY, _ASSISTANT = b'{"event":"', b'{"history":"', b'{"history":"assistant"'
# More pieces than one reply has.
_MOST_PIECES = 1_000_000


class StoredRecords:
    """The records of a log up to number `last`; `lines` returns those that may hold them."""

    def __init__(self, lines: Callable[[], Iterable[bytes]], last: int) -> None:
        self.last = last
        self._lines = lines

    @classmethod
    def of(cls, folder: Path, last: int) -> "StoredRecords":
        """Return the records of the session in `folder`, of which nothing is held in memory."""
        return cls(partial(_lines_in, folder), last)

    @property
    def records(self) -> Sequence[Record]:
        """All records in order, decoded now; text in one piece a reply, code only in `CodeProposed`."""
        found = (record for line in self._lines() for record in _records(line))
        return sorted((one for one in found if one.number <= self.last), key=lambda record: record.number)


def _lines_in(folder: Path) -> list[bytes]:
    """Return the lines of events and replies in a log; none if it is gone."""
    try:
        content = (folder / NAME).read_bytes()
    except OSError:
        return []
    return [line for line in content.split(b"\n") if line.startswith((_EVENT, _ASSISTANT))]


@dataclass(slots=True, kw_only=True)
class StoredLog(Stored):
    """A log up to its first damaged line; `end` is the number of its good bytes."""

    header: Header
    end: int


def read(folder: Path) -> StoredLog:
    """Return the session in `folder`.

    Raises:
        SessionError: there is none, or nothing of it can be read.
    """
    try:
        content = (folder / NAME).read_bytes()
    except OSError as error:
        raise SessionError(f"The session {folder.name} cannot be read: {error.strerror}.") from error
    stored = stored_of(content, folder)
    stored.events = StoredRecords.of(folder, stored.events.last)
    return stored


def stored_of(content: bytes, folder: Path) -> StoredLog:
    """Return the session whose log is `content`; `folder` is named after it, and not read.

    Raises:
        SessionError: nothing of it can be read.
    """
    lines = content.split(b"\n")
    # What follows the last end of a line was not finished.
    lines.pop()
    reading = _Reading()
    with collection_put_off():
        reading.read(lines)
    if reading.header is None:
        raise SessionError(f"The session {folder.name} cannot be read: its log has no beginning.")
    return StoredLog(
        folder=folder,
        header=reading.header,
        history=reading.history,
        events=StoredRecords(lambda: reading.records, reading.last(len(lines))),
        end=reading.end,
        model=reading.model or reading.header.model,
        used=reading.used,
        runs=reading.counts.get("code_started", 0),
        last_run=reading.last_run,
        calls=reading.calls,
        questions=reading.counts.get("asked", 0),
        gone=tuple(reading.names.all()),
        left_over=tuple(reading.left_over()),
        jobs=tuple(reading.jobs.values()),
        step=reading.turn_count("model_called"),
        notices=tuple(reading.notices(len(lines))),
        cut_off=tuple(reading.cut_off()),
    )


def read_header(folder: Path) -> Header | None:
    """Return the header of the session in `folder`; None if it cannot be read."""
    try:
        with (folder / NAME).open("rb") as file:
            return header_from_json(_parsed(file.readline()))
    except (OSError, ValueError):
        return None


@dataclass(slots=True)
class _Reading:
    """One pass over the lines of a log."""

    header: Header | None = None
    history: History = field(default_factory=History)
    records: list[bytes] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    names: KernelNames = field(default_factory=KernelNames)
    used: Tally = field(default_factory=Tally)
    jobs: dict[str, str] = field(default_factory=dict)
    end: int = 0
    calls: int = 0
    model: str = ""
    last_run: int = 0
    _lines: int = 0
    _turn: list[tuple[str, bytes]] = field(default_factory=list)
    _asked: dict[str, bytes] = field(default_factory=dict)
    _open: dict[str, int] = field(default_factory=dict)
    _call_ids: tuple[str, ...] = ()
    _newer: dict[str, int] = field(default_factory=dict)

    def read(self, lines: Sequence[bytes]) -> None:
        """Read line after line, up to the first that is damaged."""
        try:
            for line in lines:
                self._take(line)
                self.end += len(line) + 1
                self._lines += 1
        except (AttributeError, LookupError, TypeError, ValueError):
            return

    def _take(self, line: bytes) -> None:
        """Read one line.

        Raises:
            ValueError: it is no line of a log.
        """
        if self.header is None:
            self.header = header_from_json(_parsed(line))
        elif line.startswith(_EVENT):
            self._event(line)
        elif line.startswith(_HISTORY):
            self._change(line)
        else:
            self._skip(next(iter(_parsed(line)), "?"))

    def _event(self, line: bytes) -> None:
        if not line.endswith(b"}") or b"\0" in line:
            raise ValueError("damaged")
        name = line[len(_EVENT) : line.index(b'"', len(_EVENT))].decode("ascii")
        if name not in wire.event_types():
            self._skip(name)
            return
        self.records.append(line)
        self.counts[name] = self.counts.get(name, 0) + 1
        if name == "turn_started":
            self._turn = []
        self._turn.append((name, line))
        self._note(name, line)

    def _note(self, name: str, line: bytes) -> None:
        """Note what a resumed session needs of an event."""
        match name:
            case "usage_reported":
                used = wire.from_json(_parsed(line))
                assert isinstance(used, UsageReported), "the line names this event"
                self.used = self.used.plus(used)
            case "model_called":
                self.model = str(_parsed(line)["model"])
            case "code_started" | "code_typed" | "code_proposed":
                self._run(name, _parsed(line), line)
            case "job_changed":
                self._job(_parsed(line))
            case "session_resumed":
                self.jobs = {}
                self._asked.clear()
                self._open.clear()
                if _parsed(line).get("lost"):
                    self.names.end("")
            case _:
                self._note_names(name, line)

    def _note_names(self, name: str, line: bytes) -> None:
        """Note the variables that an event binds, restores or ends."""
        match name:
            case "turn_started" | "history_rewound":
                turn = wire.from_json(_parsed(line))
                assert isinstance(turn, TurnStarted | HistoryRewound), "the line names these events"
                self.names.turn(turn)
            case "kernel_changed":
                changed = wire.from_json(_parsed(line))
                assert isinstance(changed, KernelChanged), "the line names this event"
                if changed.ends_variables:
                    self.names.end(changed.language)
            case "code_finished" if b'"changes":[{' in line:
                event = wire.from_json(_parsed(line))
                assert isinstance(event, CodeFinished), "the line names this event"
                self.names.change(self._language(event.call_id), event.changes)
                self._end_run(event.call_id)
            case "code_finished":
                self._end_run(str(_parsed(line)["call_id"]))

    def _run(self, name: str, event: Mapping[str, Any], line: bytes) -> None:
        if name == "code_started":
            self.last_run = self._open[event["call_id"]] = int(event.get("execution_count", 0))
        else:
            self._asked[event["call_id"]] = line

    def _end_run(self, call_id: str) -> None:
        self._open.pop(call_id, None)
        self._asked.pop(call_id, None)

    def cut_off(self) -> Iterator[tuple[int, str]]:
        """Yield the runs without an end, with the first line of each; no background jobs."""
        for call_id, number in self._open.items():
            code = "".join(str(one["code"]) for one in _whole([self._asked.get(call_id, b"")]))
            yield number, next(iter(code.strip().splitlines()), "")

    def _job(self, event: Mapping[str, Any]) -> None:
        self._open.pop(event["call_id"], None)
        if event["state"] == "background":
            self.jobs[event["call_id"]] = f"Job {event['job']} ({event['language']})"
        else:
            self.jobs.pop(event["call_id"], None)

    def _language(self, call_id: str) -> str:
        """Return the language of a call of the last turn, or of code that was typed since."""
        asked = (line for name, line in reversed(self._turn) if name in ("code_proposed", "code_typed"))
        return next((str(one["language"]) for one in _whole(asked) if one["call_id"] == call_id), "python")

    def _change(self, line: bytes) -> None:
        parsed = _parsed(line)
        try:
            change = change_from_json(parsed)
        except (LookupError, TypeError, ValueError):
            self._skip(f"history {parsed['history']}")
            return
        self.history.apply(change)
        if isinstance(change, Appended) and isinstance(change.message, Assistant):
            self.records.append(line)
            self._call_ids = change.call_ids
            self.calls = max([self.calls, *map(_number, change.call_ids)])

    def _skip(self, kind: str) -> None:
        self._newer[kind] = self._newer.get(kind, 0) + 1

    def last(self, lines: int) -> int:
        """Return the number after which new events are counted: that of the last event, or a higher one.

        Pieces of a reply that broke off were seen, and not written: their numbers are not given out again.
        """
        events = (line for line in reversed(self.records) if line.startswith(_EVENT))
        last = next((int(event["number"]) for event in _whole(events)), 0)
        over = self.turn_count("turn_finished") or self.turn_count("session_resumed")
        broken_off = self.turn_count("turn_started") and not over
        return last + _MOST_PIECES if broken_off or self._lines < lines else last

    def turn_count(self, name: str) -> int:
        """Return the number of events of this name in the last turn."""
        return sum(one == name for one, _ in self._turn)

    def left_over(self) -> Iterator[LeftOver]:
        """Yield the calls of the last reply that have no result, if its turn broke off."""
        if self.turn_count("turn_finished"):
            return
        answered, messages = 0, self.history.messages
        while answered < len(messages) and isinstance(messages[-answered - 1], Result):
            answered += 1
        reply = messages[-answered - 1] if answered < len(messages) else None
        if not isinstance(reply, Assistant):
            return
        started, finished = self._called("code_started"), self._called("code_finished")
        for call_id, call in list(zip(self._call_ids, reply.calls, strict=False))[answered:]:
            yield LeftOver(call_id, call, call_id in started, call_id in finished)

    def _called(self, name: str) -> set[str]:
        return {event["call_id"] for event in _whole(line for one, line in self._turn if one == name)}

    def notices(self, lines: int) -> Iterator[str]:
        """Yield notices about lines that were left out."""
        if self._newer:
            kinds = ", ".join(self._newer)
            number = sum(self._newer.values())
            left_out = "One record" if number == 1 else f"{number} records"
            yield f"{left_out} of this session left out: of a kind that a newer terp writes ({kinds})."
        elif self.header is not None and self.header.version > VERSION:
            yield "This session was written by a newer terp."
        if self._lines < lines:
            damaged = self._lines + 1
            yield f"The log of this session is damaged at line {damaged}; the rest of it is left out."


def _parsed(line: bytes) -> dict[str, Any]:
    """Return the object of a line.

    Raises:
        ValueError: it is none.
    """
    try:
        parsed = jiter.from_json(line)
    except ValueError:
        # jiter knows no halves of surrogate pairs.
        parsed = json.loads(line)
    if not isinstance(parsed, dict):
        raise ValueError("no object")
    return parsed


def _whole(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the objects of lines, without those that are damaged inside."""
    for line in lines:
        with suppress(ValueError):
            yield _parsed(line)


def _number(call_id: str) -> int:
    number = call_id.removeprefix("c")
    return int(number) if number.isdigit() else 0


def _texts(parsed: Mapping[str, Any], last: int) -> Iterator[tuple[int, TextDelta]]:
    """Yield the pieces of a reply's text with their numbers: one, and one more for each value in it."""
    values = [(int(number), str(of), str(text)) for number, of, text in parsed.get("values", ())]
    if not values:
        yield last, TextDelta(parsed["text"])
        return
    from terp.session.answers.references import split_references  # noqa: PLC0415  (few replies have any)

    text = ""
    for piece in split_references(parsed["text"]):
        written = piece if isinstance(piece, str) else piece.written
        if isinstance(piece, str) or not values or values[0][1] != written:
            text += written
            continue
        number, _, value = values.pop(0)
        if text:
            # It had at least one number before that of the value.
            yield number - 1, TextDelta(text)
        yield number, TextDelta(value, written)
        text = ""
    if text:
        yield last, TextDelta(text)


def _records(line: bytes) -> Iterator[Record]:
    try:
        parsed = _parsed(line)
        if not line.startswith(_ASSISTANT):
            yield wire.record_from_json(parsed)
            return
        numbers = parsed.get("numbers", {})
        time = float(parsed.get("time", 0.0))
        if parsed.get("reasoning") and numbers.get("reasoning"):
            yield Record(numbers["reasoning"], time, ReasoningDelta(parsed["reasoning"]))
        if parsed["text"] and numbers.get("text"):
            for number, delta in _texts(parsed, numbers["text"]):
                yield Record(number, time, delta)
    except (LookupError, TypeError, ValueError):
        # Damage inside a line that was not decoded before.
        return
