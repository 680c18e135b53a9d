"""Records as they may leave the process: without secrets, also where one comes in pieces."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from terp.events import (
    CodeDelta,
    CodeFinished,
    Event,
    LateOutput,
    Printed,
    ReasoningDelta,
    TextDelta,
    TurnFinished,
)
from terp.events.log import Record
from terp.events.outputs import Text

if TYPE_CHECKING:
    from terp.secrets.scrubbing import Scrubber

_Stream = tuple[str, ...]
_OF_MODEL = ("text", "reasoning", "code")


class Redaction:
    """Passes on the records of one session in order.

    The end of a piece in which a secret may begin waits for the next piece of the same text: mostly nothing,
    at most some kilobytes. Of the model's words it comes before its code and all else that happens, of a
    run's before that shows anything else or ends, and of late output when a turn ends: other things go on
    beside these.
    """

    def __init__(self, scrubber: Callable[[], "Scrubber"]) -> None:
        self._scrubber = scrubber
        self._held: dict[_Stream, tuple[str, Record]] = {}

    def passed(self, record: Record) -> Iterator[Record]:
        """The records to show in place of this one; all have its number."""
        piece = piece_of(record.event)
        if piece is None:
            for stream in [stream for stream in self._held if _comes_before(stream, record.event)]:
                yield self._released(stream, record.number)
            yield record
            return
        stream, text = piece
        if stream[0] in _OF_MODEL:
            for other in [one for one in self._held if one[0] in _OF_MODEL and one != stream]:
                yield self._released(other, record.number)
        before, _ = self._held.pop(stream, ("", record))
        whole = before + text
        settled = self._scrubber().settled(whole)
        if settled < len(whole):
            self._held[stream] = whole[settled:], record
        if settled:
            yield self._clean(record, whole[:settled])

    def _released(self, stream: _Stream, number: int) -> Record:
        text, held = self._held.pop(stream)
        return self._clean(replace(held, number=number), text)

    def _clean(self, record: Record, text: str) -> Record:
        clean, piece = self._scrubber().redacted(text), piece_of(record.event)
        # Nearly always nothing is to be changed.
        return record if piece and piece[1] == clean else replace(record, event=_with(record.event, clean))


def piece_of(event: Event) -> tuple[_Stream, str] | None:
    """The text that an event is a piece of, and the piece; None for any other event."""
    match event:
        case TextDelta(text=text, reference=""):
            return ("text",), text
        case ReasoningDelta(text=text):
            return ("reasoning",), text
        case CodeDelta(call_id=call_id, text=text):
            return ("code", call_id), text
        case Printed(call_id=call_id, output=Text(stream=stream, text=text)):
            return ("printed", call_id, stream), text
        case LateOutput(call_id=call_id, output=Text(stream=stream, text=text)):
            return ("late", call_id, stream), text
    return None


def _comes_before(stream: _Stream, event: Event) -> bool:
    """Whether what was held back of a text comes before an event that is no piece of one."""
    match stream, event:
        case ("printed", call_id, _), CodeFinished(call_id=ended):
            return call_id == ended
        case ("printed", call_id, _), Printed(call_id=printing):
            return call_id == printing
        case ("printed", *_), _:
            return False
        case ("late", *_), _:
            return isinstance(event, TurnFinished)
    return True


def _with(event: Event, text: str) -> Event:
    match event:
        case TextDelta() | ReasoningDelta() | CodeDelta():
            return replace(event, text=text)
        case Printed(output=Text() as output) | LateOutput(output=Text() as output):
            return replace(event, output=replace(output, text=text))
    return event
