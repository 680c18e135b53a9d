"""Secrets that a program puts out in two pieces, and that would be found in neither."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from terp.events import (
    CodeDelta,
    CodeFinished,
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

_Stream = tuple[type, str, str]
_Delta = TextDelta | ReasoningDelta | CodeDelta
_DELTAS = (TextDelta, ReasoningDelta, CodeDelta)


class Seams:
    """Moves the end of a piece of text into the next piece of the same stream, if a secret may begin in it.

    It is held back until then, or until its run ends, and of what the model writes until anything else
    happens: what a process holds that is killed before is lost. That is text in which a secret may have
    begun, and mostly a few characters.
    """

    def __init__(self, scrubber: "Scrubber") -> None:
        self.scrubber = scrubber
        self._held: dict[_Stream, tuple[str, Record]] = {}
        self._last = 0

    def passed(self, record: Record) -> Iterator[Record]:
        """The records to write in place of this one."""
        match record.event:
            case Printed(output=Text() as text) | LateOutput(output=Text() as text):
                record = self._printed(record, record.event, text)
            case TextDelta(reference=reference) if reference:
                # What was put in is without secrets already, and is a piece of its own.
                yield from self._released(lambda held: held[0] in _DELTAS)
            case TextDelta() | ReasoningDelta() | CodeDelta() as delta:
                yield from self._released(lambda held: held[0] in _DELTAS and held[0] is not type(delta))
                record = self._written(record, delta)
            case CodeFinished(call_id=call_id):
                # Others go on beside it, and have not put out the rest of theirs.
                yield from self._released(lambda held: held[0] is not Printed or held[1] == call_id)
            case TurnFinished():
                yield from self._released(lambda held: held[0] is not Printed)
            case _:
                yield from self._released(lambda held: held[0] in _DELTAS)
        self._last = record.number
        yield record

    def released(self) -> Iterator[Record]:
        """What is held back, as records behind the last that passed."""
        yield from self._released(lambda _: True)

    def _released(self, wanted: Callable[[_Stream], bool]) -> Iterator[Record]:
        for stream in [stream for stream in self._held if wanted(stream)]:
            _, record = self._held.pop(stream)
            yield replace(record, number=self._last)

    def _printed(self, record: Record, event: Printed | LateOutput, output: Text) -> Record:
        def holding(text: str) -> Record:
            return replace(record, event=replace(event, output=Text(output.stream, text)))

        return self._joined((type(event), event.call_id, output.stream), output.text, holding)

    def _written(self, record: Record, event: _Delta) -> Record:
        def holding(text: str) -> Record:
            return replace(record, event=replace(event, text=text))

        return self._joined((type(event), getattr(event, "call_id", ""), ""), event.text, holding)

    def _joined(self, stream: _Stream, more: str, holding: Callable[[str], Record]) -> Record:
        before, _ = self._held.pop(stream, ("", None))
        text = before + more
        settled = self.scrubber.settled(text)
        if settled < len(text):
            self._held[stream] = text[settled:], holding(text[settled:])
        return holding(text[:settled])
