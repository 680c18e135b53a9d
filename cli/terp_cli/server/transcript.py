"""The events of a session as clients read them: each is encoded once for all subscribers."""

import asyncio
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import to_json

from terp.events import CodeFinished, wire
from terp.events.changes import delta_line, described_files, file_groups
from terp.events.log import EventLog, Record
from terp.events.performed import account_of
from terp.secrets.redactor import StreamRedactor, piece_of
from terp.text.dataclasses import dataclass

if TYPE_CHECKING:
    from terp.secrets.redactor import Redactor


class WireEvent(NamedTuple):
    """The encoded form of one record: its number, the event's name, and its JSON.

    `is_last` is True for the last event of its number: a client continues after it.
    """

    number: int
    name: str
    json: bytes
    is_last: bool = True


@dataclass(frozen=True, slots=True)
class Batch:
    """Some events, and the number to continue after."""

    events: Sequence[WireEvent]
    after: int


class Transcript:
    """The log of a session, redacted.

    A reader holds a record number; the log never waits for a reader.
    """

    def __init__(self, log: EventLog, redactor: Callable[[], "Redactor"]) -> None:
        self._log = log
        self._redactor = redactor
        self._redaction = StreamRedactor(redactor)
        # The events of the records after number `_before`.
        self._events: list[tuple[WireEvent, ...]] = []
        self._before = log.before

    @property
    def last(self) -> int:
        """The number of the newest record."""
        return self._log.last

    async def since(self, number: int, most: int = 500) -> Batch:
        """Return the events after a number, oldest first, from at most `most` records."""
        if number < (before := self._log.before):
            # Decoding what was stored takes seconds for a long session.
            earlier = await asyncio.to_thread(self._earlier, number, before, most)
            if earlier:
                return Batch(earlier, earlier[-1].number)
            number = before
        self._catch_up()
        # More may have left memory meanwhile.
        number = max(number, self._before)
        at = number - self._before
        found = self._events[at : at + most]
        return Batch([event for events in found for event in events], number + len(found))

    def _catch_up(self) -> None:
        gone = self._log.before - self._before
        del self._events[:gone]
        self._before += gone
        for record in self._log.since(self._before + len(self._events)):
            shown = [_encoded(one, self._redactor) for one in self._redaction.passed(record)]
            if len(shown) > 1:
                shown[:-1] = [event._replace(is_last=False) for event in shown[:-1]]
            self._events.append(tuple(shown))

    def _earlier(self, number: int, last: int, most: int) -> Sequence[WireEvent]:
        records = self._log.since(number)[:most]
        return [_encoded(one, self._redactor) for one in records if one.number <= last]


def _encoded(record: Record, redactor: Callable[[], "Redactor"]) -> WireEvent:
    fields = wire.record_to_json(record)
    if piece_of(record.event):
        # Pieces of text are redacted by now, and are most records.
        return WireEvent(record.number, fields["event"], encoded(fields))
    if isinstance(record.event, CodeFinished):
        fields["files_told"] = _file_rows(record.event)
        fields["changes_told"] = delta_line(record.event.changes, record.event.more_changes)
        fields["effects_told"] = account_of(record.event.effects, record.event.files, record.event.cwd)
    return WireEvent(record.number, fields["event"], encoded(redactor().redacted_fields(fields)))


def _file_rows(event: CodeFinished) -> Sequence[Mapping[str, Any]]:
    """Return the rows for changed files, grouped as at a terminal; a row for several files has no `path`."""
    return [
        {
            "action": group[0].action,
            "told": described_files(group, event.cwd),
            "path": group[0].path if len(group) == 1 else "",
            "size": group[0].size,
        }
        for group in file_groups(event.files)
    ]


def encoded(fields: Any) -> bytes:
    """Return valid JSON, whatever values a kernel sent."""
    try:
        return to_json(fields, inf_nan_mode="strings")
    except ValueError:
        # Half of a surrogate pair, what JSON does not know, or 255 values inside each other.
        plain = _plain(fields)
        return json.dumps(plain, separators=(",", ":"), allow_nan=False, default=str).encode()


def decoded(text: str) -> dict[str, Any] | None:
    """Return the object that a client has sent as JSON; None if it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _plain(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            # As pydantic writes it: NaN, Infinity, -Infinity.
            return json.dumps(value)
        case dict():
            return {str(key): _plain(part) for key, part in value.items()}
        case list() | tuple():
            return [_plain(part) for part in value]
    return value
