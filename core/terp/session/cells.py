"""The code of a session that ran, and what it put out, read from its events."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from terp.events import (
    Answered,
    CodeFinished,
    CodeProposed,
    CodeStarted,
    CodeTyped,
    Event,
    KernelChanged,
    Printed,
    SessionResumed,
)
from terp.events.outputs import Display, DisplayUpdate, Output, RunStatus
from terp.events.settled import Displays, Settled
from terp.secrets.scrubbing import REDACTED
from terp.session.artifacts import with_picture
from terp.session.asked_lines import AskedLines
from terp.session.proposals import digest_of

AGAIN = "rerun-"
"""What the ids of calls begin with that ran the code of another call again: they are not told twice."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Code that was approved and ran, and what it put out; not `whole` where a secret was taken out.

    `status` is how its run ended, "died" where that is not known; `answers` are the lines that it was given.
    `anew` tells that the kernel of its language had been started anew before it, and nothing run again in it.
    """

    language: str
    code: str
    outputs: tuple[Output, ...] = ()
    whole: bool = True
    status: RunStatus = "died"
    answers: tuple[str, ...] = ()
    anew: bool = False


def cells(events: Iterable[Event], folder: Path | None = None) -> list[Cell]:
    """All code of a session that ran, in order: the model's, and what the person typed.

    Pictures that the events only name are read from the `folder` of the session.
    """
    reading = _Cells(folder)
    for event in events:
        reading.take(event)
    return [run.cell() for run in reading.runs]


@dataclass(slots=True)
class _Ran:
    """A run of which more is still told."""

    told: CodeProposed | CodeTyped
    outputs: Settled
    status: RunStatus = "died"
    answers: list[str] = field(default_factory=list)
    anew: bool = False

    def cell(self) -> Cell:
        told = self.told
        outputs, answers = tuple(self.outputs), tuple(self.answers)
        return Cell(told.language, told.code, outputs, _is_whole(told), self.status, answers, self.anew)


@dataclass(slots=True)
class _Cells:
    folder: Path | None
    runs: list[_Ran] = field(default_factory=list)
    _begun: dict[str, _Ran] = field(default_factory=dict)
    _proposed: dict[str, CodeProposed | CodeTyped] = field(default_factory=dict)
    _displays: Displays = field(default_factory=Displays)
    _lines: AskedLines = field(default_factory=AskedLines)
    _ended: set[str] = field(default_factory=set)

    def take(self, event: Event) -> None:
        """Go on with one event."""
        self._lines.take(event)
        match event:
            case CodeProposed(call_id=call_id) | CodeTyped(call_id=call_id) if not call_id.startswith(AGAIN):
                self._proposed[call_id] = event
            case CodeStarted(call_id=call_id) if call_id in self._proposed:
                self._begin(call_id, self._proposed[call_id])
            case CodeStarted(call_id=call_id) if call_id.startswith(AGAIN):
                self._ended.clear()
            case SessionResumed():
                self._ended |= {run.told.language for run in self.runs}
            case KernelChanged(language=language, ends_variables=True):
                self._ended.add(language)
            case Printed(call_id=call_id, output=output) if call_id in self._begun:
                self._begun[call_id].outputs.add(self._whole(output))
            case Answered(question_id=question_id, answer=answer):
                self._typed(self._lines.run_of(question_id), answer)
            case CodeFinished(call_id=call_id, status=status) if call_id in self._begun:
                self._begun[call_id].status = status
            case _:
                pass

    def _begin(self, call_id: str, told: CodeProposed | CodeTyped) -> None:
        # A resumed session may count its calls anew.
        self._begun[call_id] = run = _Ran(told, Settled(self._displays), anew=told.language in self._ended)
        self._ended.discard(told.language)
        self.runs.append(run)

    def _typed(self, call_id: str, answer: str) -> None:
        if run := self._begun.get(call_id):
            run.answers.append(answer)
            run.outputs.typed(answer)

    def _whole(self, output: Output) -> Output:
        if isinstance(output, Display | DisplayUpdate) and self.folder is not None:
            return with_picture(output, self.folder)
        return output


def _is_whole(code: CodeProposed | CodeTyped) -> bool:
    if isinstance(code, CodeTyped):
        return REDACTED not in code.code
    return digest_of(code.code) == code.digest
