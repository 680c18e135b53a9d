"""Secrets that a program puts out in two pieces, and that would be found in neither."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from terp.events import CodeFinished, LateOutput, Printed, TurnFinished
from terp.log import Record
from terp.outputs import Text

if TYPE_CHECKING:
    from terp.models.scrubbing import Scrubber

_Stream = tuple[type, str, str]


class Seams:
    """Moves the end of a piece of text into the next piece of the same stream, if a secret may begin in it.

    It is held back until then, or until a run or a turn ends: what a process holds that is killed
    before is lost. That is text in which a secret may have begun, and mostly a few characters.
    """

    def __init__(self, scrubber: "Scrubber") -> None:
        self._scrubber = scrubber
        self._held: dict[_Stream, tuple[str, Record]] = {}
        self._last = 0

    def passed(self, record: Record) -> Iterator[Record]:
        """The records to write in place of this one."""
        match record.event:
            case Printed(output=Text() as text) | LateOutput(output=Text() as text):
                record = self._joined(record, record.event, text)
            case CodeFinished() | TurnFinished():
                yield from self.released()
        self._last = record.number
        yield record

    def released(self) -> Iterator[Record]:
        """What is held back, as records behind the last that passed."""
        for _, record in self._held.values():
            yield replace(record, number=self._last)
        self._held.clear()

    def _joined(self, record: Record, event: Printed | LateOutput, output: Text) -> Record:
        def holding(text: str) -> Record:
            return replace(record, event=replace(event, output=Text(output.stream, text)))

        stream = (type(event), event.call_id, output.stream)
        before, _ = self._held.pop(stream, ("", record))
        text = before + output.text
        settled = self._scrubber.settled(text)
        if settled < len(text):
            self._held[stream] = text[settled:], holding(text[settled:])
        return holding(text[:settled])
