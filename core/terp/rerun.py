"""The code of a stored session, run again in order in new kernels, and what is different then."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from terp.errors import StopReason, TerpError
from terp.events import (
    CodeCompared,
    CodeDeclined,
    CodeProposed,
    CodeRejected,
    CodeStarted,
    CodeTyped,
    Event,
    Printed,
    TextDelta,
    TurnFinished,
)
from terp.interrupts import Interrupted, Interrupts
from terp.kernels.protocol import Kernel, Kernels
from terp.limits import Limits
from terp.log import EventLog
from terp.models.scrubbing import REDACTED
from terp.outputs import Text
from terp.person import Decline
from terp.plain import without_escapes
from terp.proposals import Proposals, digest_of
from terp.readiness import Readiness
from terp.runs import Runner
from terp.tool import Call

RERUN = "Run the code of this session again."
_PREFIX = "rerun-"
_DIFFERENCE_LINES = 200
_TOLD_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Cell:
    """Code that was approved and ran, and the text it put out; not `whole` where a secret was taken out."""

    language: str
    code: str
    text: str
    whole: bool = True


def cells(events: Iterable[Event]) -> list[Cell]:
    """All code of a session that ran, in order: the model's, and what the person typed."""
    proposed: dict[str, CodeProposed | CodeTyped] = {}
    texts: dict[str, list[str]] = {}
    for event in events:
        match event:
            case CodeProposed(call_id=call_id) | CodeTyped(call_id=call_id) if not call_id.startswith(
                _PREFIX
            ):
                proposed[call_id] = event
            case CodeStarted(call_id=call_id) if call_id in proposed:
                texts[call_id] = []
            case Printed(call_id=call_id, output=Text(text=text)) if call_id in texts:
                texts[call_id].append(text)
    return [
        Cell(one.language, one.code, "".join(text), whole=_is_whole(one))
        for one, text in ((proposed[call_id], text) for call_id, text in texts.items())
    ]


def _is_whole(code: CodeProposed | CodeTyped) -> bool:
    if isinstance(code, CodeTyped):
        return REDACTED not in code.code
    return digest_of(code.code) == code.digest


@dataclass(slots=True)
class Rerun:
    """Runs cells one by one, each with the person's consent. `run` ends with `TurnFinished`.

    `as_kept` gives a text as the store has it: without secrets, so that what is kept compares with it.
    """

    cells: Sequence[Cell]
    kernels: Kernels
    proposals: Proposals
    readiness: Readiness
    runner: Runner
    limits: Limits
    log: EventLog
    interrupts: Interrupts
    as_kept: Callable[[str], str]
    running: Kernel | None = None
    _same: int = 0
    _left_out: int = 0
    _differences: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Go through all cells, or until something ends it."""
        reason: StopReason = "error"
        error, remedy = "It broke off.", ""
        try:
            for number, cell in enumerate(self.cells, 1):
                await self._cell(number, cell)
            reason, error = "done", ""
        except Interrupted:
            reason, error = "interrupted", ""
        except TerpError as failed:
            reason, error, remedy = failed.stop_reason, failed.message, failed.remedy
        finally:
            summary = self.summary()
            self.log.append(TextDelta(summary))
            self.log.append(TurnFinished(reason, summary, error, remedy))

    async def stop(self) -> None:
        """Interrupt the code; returns when nothing of it runs any more."""
        self.interrupts.stop()
        if self.running is not None:
            await self.running.interrupt()

    def summary(self) -> str:
        """What came of it, in a sentence."""
        if not self.cells:
            return "No code of this session has run."
        parts = [f"{self._same} of {len(self.cells)} runs printed the same as before"]
        if self._differences:
            parts.append(f"{len(self._differences)} something else")
        if self._left_out:
            parts.append(f"{self._left_out} left out")
        if not_reached := len(self.cells) - self._same - len(self._differences) - self._left_out:
            parts.append(f"{not_reached} not reached")
        return ", ".join(parts) + "."

    def note(self) -> str:
        """What the model is told of it."""
        lines = [
            f"[The kernel is new, and the code of this conversation was run again in it. {self.summary()}"
        ]
        room = _TOLD_CHARS
        for difference in self._differences:
            lines.append(difference[:room])
            room -= len(lines[-1])
        return "\n".join(line for line in lines if line) + "]"

    async def _cell(self, number: int, cell: Cell) -> None:
        call = Call(f"{_PREFIX}{self.log.last}-{number}", cell.language, cell.code)
        if not cell.whole:
            self._left_out += 1
            self.log.append(CodeRejected(call.id, f"run {number} held a secret, which was not kept."))
            return
        kernel = self.kernels.get(call.language)
        decision = await self.interrupts.guard(self.proposals.decide(call, kernel))
        if isinstance(decision, Decline):
            self._left_out += 1
            self.log.append(CodeDeclined(call.id, decision.reason))
            if decision.stop:
                raise Interrupted
            return
        await self.interrupts.guard(self.readiness.before(call, kernel))
        after = self.log.last
        self.running = kernel
        try:
            await self.runner.run(
                Call(call.id, call.language, decision.code),
                kernel,
                timeout_s=self.limits.run_timeout_s,
                max_chars=self.limits.max_output_chars,
            )
        finally:
            self.running = None
        if self.interrupts.requested:
            raise Interrupted
        self._compare(number, call.id, cell, after)

    def _compare(self, number: int, call_id: str, cell: Cell, after: int) -> None:
        text = "".join(
            record.event.output.text
            for record in self.log.since(after)
            if isinstance(record.event, Printed)
            and record.event.call_id == call_id
            and isinstance(record.event.output, Text)
        )
        difference = _difference(cell.text, self.as_kept(text), number)
        if difference:
            self._differences.append(difference)
        else:
            self._same += 1
        self.log.append(CodeCompared(call_id, number, len(self.cells), difference))


def _difference(before: str, now: str, number: int) -> str:
    old, new = without_escapes(before).splitlines(), without_escapes(now).splitlines()
    names = f"run {number} then", f"run {number} now"
    lines = list(difflib.unified_diff(old, new, *names, lineterm="", n=1))
    left_out = len(lines) - _DIFFERENCE_LINES
    more = [f"… {left_out:,} more lines"] if left_out > 0 else []
    return "\n".join([*lines[:_DIFFERENCE_LINES], *more])
