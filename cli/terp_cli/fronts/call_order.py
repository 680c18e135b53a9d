"""One block of code at a time: a reply may write the code of several calls before the first is proposed."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from terp.events import CodeDelta, CodeProposed, CodeRejected, Event, ReasoningDelta, TextDelta, TurnFinished


@dataclass(slots=True)
class CallOrder:
    """Passes events on to a front end that draws one thing after the other.

    While the code of a call is being written, text waits until that call is proposed, and the code of
    another call until that one is: so each block is whole and is drawn once.
    """

    _writing: str = ""
    _code: dict[str, list[Event]] = field(default_factory=dict)
    _text: list[Event] = field(default_factory=list)

    def passed(self, event: Event) -> Iterator[Event]:
        """The events to draw now that `event` has come, in order."""
        match event:
            case CodeDelta(call_id=call_id):
                if not self._writing and call_id not in self._code:
                    self._writing = call_id
                if call_id == self._writing:
                    yield event
                else:
                    self._code.setdefault(call_id, []).append(event)
            case TextDelta() | ReasoningDelta() if self._writing:
                self._text.append(event)
            case CodeProposed(call_id=call_id) | CodeRejected(call_id=call_id):
                yield from self._code.pop(call_id, [])
                yield event
                if call_id == self._writing:
                    yield from self._released()
            case TurnFinished():
                yield from self._released()
                self._code.clear()
                yield event
            case _:
                yield event

    def _released(self) -> Iterator[Event]:
        self._writing = ""
        text, self._text = self._text, []
        yield from text
