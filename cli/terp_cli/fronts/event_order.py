"""The order of events for a front end that draws one block after the other: jobs, and several calls."""

from collections.abc import Iterator

from terp import events as on
from terp.events.outputs import Omitted, Text
from terp.text.dataclasses import dataclass, field, replace

_LINES, _CHARACTERS = 20, 4_000
"""Lines and characters that are shown of a job's output, from its end."""


@dataclass(slots=True)
class JobsAside:
    """Filter of events that holds back the output of jobs until they end.

    The block of a job that has ended is its `JobChanged`, the end of its output, and its `CodeFinished`. It
    comes when no other block is open: between turns or replies, after a run, or when the wait for it ends.
    """

    _open: bool = False
    _runs: bool = False
    _typed: str = ""
    _printed: dict[str, list[on.Printed]] = field(default_factory=dict)
    _finished: dict[str, on.CodeFinished] = field(default_factory=dict)
    _ended: list[on.Event] = field(default_factory=list)

    def passed(self, event: on.Event) -> Iterator[on.Event]:
        """Yield the events to draw now that `event` has come, in order."""
        if self._keeps(event):
            return
        if isinstance(event, on.ModelCalled):
            yield from self._released()
        if isinstance(event, on.JobChanged) and event.state == "ended":
            self._end(event)
        else:
            yield event
        self._note(event)
        if self._pauses(event):
            yield from self._released()

    def _keeps(self, event: on.Event) -> bool:
        if not isinstance(event, on.Printed | on.CodeFinished) or event.call_id not in self._printed:
            return False
        if isinstance(event, on.Printed):
            self._printed[event.call_id].append(event)
        else:
            self._finished[event.call_id] = event
        return True

    def _pauses(self, event: on.Event) -> bool:
        """Return True if no block that is being drawn would be split by another one."""
        if not self._open or self._runs:
            return not self._open
        # Code that has waited for the job may be proposed next.
        waited = isinstance(event, on.Progress) and event.is_over
        return waited or isinstance(event, on.CodeFinished)

    def _note(self, event: on.Event) -> None:
        match event:
            case on.TurnStarted() | on.CheckStarted():
                self._open = True
            case on.CodeTyped(call_id=call_id):
                self._open, self._typed = True, call_id
            case on.CodeStarted():
                self._runs = True
            case on.JobChanged(state="background", call_id=call_id):
                self._printed[call_id] = []
                self._end_run(call_id)
            case on.CodeFinished(call_id=call_id) | on.CodeRejected(call_id=call_id):
                self._end_run(call_id)
            case on.TurnFinished() | on.CheckFinished():
                self._open = self._runs = False
            case _:
                pass

    def _end_run(self, call_id: str) -> None:
        self._runs = False
        if call_id == self._typed:
            self._open, self._typed = False, ""

    def _end(self, event: on.JobChanged) -> None:
        printed = self._printed.pop(event.call_id, [])
        finished = self._finished.pop(event.call_id, None)
        self._ended += [event, *_tail(printed), *([finished] if finished else [])]

    def _released(self) -> Iterator[on.Event]:
        ended, self._ended = self._ended, []
        yield from ended


def _tail(printed: list[on.Printed]) -> list[on.Printed]:
    """Return the outputs with only the last lines of their text, and a count of the omitted text before."""
    kept: list[on.Printed] = []
    left_lines, left, lines, characters = _LINES, _CHARACTERS, 0, 0
    for one in reversed(printed):
        if not isinstance(one.output, Text):
            kept.append(one)
            continue
        rows = one.output.text.splitlines(keepends=True)
        shown = "".join(rows[-left_lines:])[-left:] if left_lines > 0 and left > 0 else ""
        left_lines, left = left_lines - len(rows), left - len(shown)
        lines += one.output.text.count("\n") - shown.count("\n")
        characters += len(one.output.text) - len(shown)
        if shown:
            kept.append(replace(one, output=Text(one.output.stream, shown)))
    if characters:
        kept.append(on.Printed(printed[0].call_id, Omitted(characters, lines, spooled=True)))
    return kept[::-1]


@dataclass(slots=True)
class CallOrder:
    """Filter of events that keeps the code of each call in one block.

    A reply may contain code of several calls before the first is proposed. While the code of a call is being
    written, text waits until that call is proposed, and the code of another call until that one is.
    """

    _writing: str = ""
    _code: dict[str, list[on.Event]] = field(default_factory=dict)
    _text: list[on.Event] = field(default_factory=list)

    def passed(self, event: on.Event) -> Iterator[on.Event]:
        """Yield the events to draw now that `event` has come, in order."""
        match event:
            case on.CodeDelta(call_id=call_id):
                if not self._writing and call_id not in self._code:
                    self._writing = call_id
                if call_id == self._writing:
                    yield event
                else:
                    self._code.setdefault(call_id, []).append(event)
            case on.TextDelta() | on.ReasoningDelta() if self._writing:
                self._text.append(event)
            case on.CodeProposed(call_id=call_id) | on.CodeRejected(call_id=call_id):
                yield from self._code.pop(call_id, [])
                yield event
                if call_id == self._writing:
                    yield from self._released()
            case on.TurnFinished():
                yield from self._released()
                self._code.clear()
                yield event
            case _:
                yield event

    def _released(self) -> Iterator[on.Event]:
        self._writing = ""
        text, self._text = self._text, []
        yield from text
