"""Redaction of what comes in pieces: a text, or the events of a session.

A secret can begin in one piece and end in another, so that neither holds it whole. The end of a piece in
which one may begin is held back until the next piece of the same text: mostly nothing, at most 20,000
characters. What a process holds back when it is killed is lost.
"""

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


class TextRedactor:
    """Redacts one text that comes in pieces."""

    def __init__(self, scrubber: "Callable[[], Scrubber]") -> None:
        self._scrubber = scrubber
        self.held = ""

    def passed(self, piece: str) -> str:
        """Return what can be written by now, redacted."""
        scrubber, text = self._scrubber(), self.held + piece
        settled = scrubber.settled(text)
        self.held = text[settled:]
        return scrubber.redacted(text[:settled])

    def rest(self) -> str:
        """Return what was held back, redacted, when no other piece follows."""
        held, self.held = self.held, ""
        return self._scrubber().redacted(held)


class StreamRedactor:
    """Redacts the pieces of text among the records of one session; other records pass as they are.

    Text that is held back passes before whatever follows it in the same text's place: the model's text
    before its code and before any other event; a run's output before a display of that run and before its
    end; late output before a display of its run and at the end of a turn. Events beside a run do not part
    its output. Every outlet of events uses this rule: the log, stream-json and the server.
    """

    def __init__(self, scrubber: "Callable[[], Scrubber]") -> None:
        """Ask `scrubber` for each piece: other settings have other secrets."""
        self._scrubber = scrubber
        self._held: dict[_Stream, tuple[TextRedactor, Record]] = {}

    def passed(self, record: Record) -> Iterator[Record]:
        """Yield the records to show in place of this one, all with its number. Empty pieces are left out."""
        piece = piece_of(record.event)
        if piece is None:
            for stream in [stream for stream in self._held if _comes_before(stream, record.event)]:
                yield from self._released(stream, record.number)
            yield record
            return
        stream, text = piece
        if stream[0] in _OF_MODEL:
            for other in [one for one in self._held if one[0] in _OF_MODEL and one != stream]:
                yield from self._released(other, record.number)
        redactor = self._held.pop(stream)[0] if stream in self._held else TextRedactor(self._scrubber)
        clean = redactor.passed(text)
        if redactor.held:
            self._held[stream] = redactor, record
        yield from _with(record, clean)

    def rest(self) -> Iterator[Record]:
        """Yield all that is held back, when no other record follows."""
        for stream, (_, record) in list(self._held.items()):
            yield from self._released(stream, record.number)

    def _released(self, stream: _Stream, number: int) -> Iterator[Record]:
        redactor, record = self._held.pop(stream)
        yield from _with(replace(record, number=number), redactor.rest())


def piece_of(event: Event) -> tuple[_Stream, str] | None:
    """Return the text that an event is a piece of, and the piece; None for any other event."""
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
    """Return True if held text of `stream` comes before an event that is no piece of text."""
    match stream, event:
        case ("printed", call_id, _), CodeFinished(call_id=other) | Printed(call_id=other):
            return call_id == other
        case ("late", call_id, _), LateOutput(call_id=other):
            return call_id == other
        case ("late", *_), _:
            return isinstance(event, TurnFinished)
        case ("printed", *_), _:
            return False
    return True


def _with(record: Record, text: str) -> Iterator[Record]:
    """Yield the record with its text replaced; nothing for an empty text."""
    if not text:
        return
    match record.event:
        case TextDelta(text=before) | ReasoningDelta(text=before) | CodeDelta(text=before) as event:
            # Nearly always nothing is to be changed.
            yield record if text == before else replace(record, event=replace(event, text=text))
        case Printed(output=Text() as output) | LateOutput(output=Text() as output) as event:
            whole = replace(output, text=text)
            yield record if text == output.text else replace(record, event=replace(event, output=whole))
