"""The code of a stored session, run again in order in new kernels, and what is different then."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from terp.errors import StopReason, TerpError
from terp.events import (
    Answered,
    CodeCompared,
    CodeDeclined,
    CodeRejected,
    Printed,
    TextDelta,
    TurnFinished,
)
from terp.events.settled import Displays, Settled
from terp.models.tool import Call
from terp.person import Decline
from terp.session.asked_lines import AskedLines
from terp.session.cells import AGAIN, Cell
from terp.session.parts import Parts
from terp.session.replay.difference import difference
from terp.text.interrupts import Interrupted, Interrupts

RERUN = "Run the code of this session again."
_TOLD_CHARS = 2_000


@dataclass(slots=True)
class Rerun:
    """Runs cells one by one, each with the person's consent. `run` ends with `TurnFinished`.

    `as_kept` gives a text as the store has it: without secrets, so that what is kept compares with it.
    """

    parts: Parts
    cells: Sequence[Cell]
    interrupts: Interrupts
    as_kept: Callable[[str], str]
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
            self.parts.log.append(TextDelta(summary))
            self.parts.log.append(TurnFinished(reason, summary, error, remedy))

    async def stop(self) -> None:
        """Interrupt the code; returns when nothing of it runs any more."""
        self.interrupts.stop()
        await self.parts.jobs.interrupt()

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
        for told in self._differences:
            lines.append(told[:room])
            room -= len(lines[-1])
        return "\n".join(line for line in lines if line) + "]"

    async def _cell(self, number: int, cell: Cell) -> None:
        call = Call(f"{AGAIN}{self.parts.log.last}-{number}", cell.language, cell.code)
        if not cell.whole:
            self._left_out += 1
            self.parts.log.append(CodeRejected(call.id, f"run {number} held a secret, which was not kept."))
            return
        kernel = self.parts.kernels.get(call.language)
        decision = await self.interrupts.guard(self.parts.proposals.decide(call, kernel))
        if isinstance(decision, Decline):
            self._left_out += 1
            self.parts.log.append(CodeDeclined(call.id, decision.reason))
            if decision.stop:
                raise Interrupted
            return
        await self.interrupts.guard(self.parts.readiness.before(call, kernel))
        after = self.parts.log.last
        approved = Call(call.id, call.language, decision.code)
        await self.parts.jobs.run(approved, kernel, self.parts.limits, may_leave=False)
        if self.interrupts.requested:
            raise Interrupted
        self._compare(number, call.id, cell, after)

    def _compare(self, number: int, call_id: str, cell: Cell, after: int) -> None:
        put_out, lines = Settled(Displays()), AskedLines()
        for record in self.parts.log.since(after):
            lines.take(record.event)
            match record.event:
                case Printed(call_id=printed, output=output) if printed == call_id:
                    put_out.add(output)
                case Answered(question_id=question_id, answer=answer):
                    if lines.run_of(question_id) == call_id:
                        put_out.typed(answer)
                case _:
                    pass
        different = difference(cell.outputs, put_out, f"run {number}", as_kept=self.as_kept)
        if different:
            self._differences.append(different)
        else:
            self._same += 1
        self.parts.log.append(CodeCompared(call_id, number, len(self.cells), different))
