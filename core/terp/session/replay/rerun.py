"""Reruns of the code of a stored session in new kernels, and how its outputs differ."""

from collections.abc import Callable, Sequence

from terp.errors import StopReason, TerpError
from terp.events import CodeCompared, CodeDeclined, CodeRejected, TextDelta, TurnFinished
from terp.events.run_log import RERUN, LoggedRun, RunLog
from terp.models.tool import Call
from terp.person import Decline
from terp.session.foreground import Interrupted
from terp.session.replay.difference import difference
from terp.session.replay.source import is_whole
from terp.session.turn import SessionTask
from terp.text.dataclasses import dataclass, field

_MOST_CHARS = 2_000


@dataclass(slots=True)
class Rerun(SessionTask):
    """Repeats runs in order, each with the user's approval; ends with `TurnFinished`.

    `as_kept` redacts a text as the store does, so that it can be compared with stored text.
    """

    runs: Sequence[LoggedRun]
    as_kept: Callable[[str], str]
    _same: int = 0
    _left_out: int = 0
    _differences: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Repeat all runs, or those until an error or an interrupt."""
        reason: StopReason = "error"
        error, remedy = "It broke off.", ""
        try:
            for number, run in enumerate(self.runs, 1):
                await self._rerun(number, run)
            reason, error = "done", ""
        except Interrupted:
            reason, error = "interrupted", ""
        except TerpError as failed:
            reason, error, remedy = failed.stop_reason, failed.message, failed.remedy
        finally:
            summary = self.summary()
            self.parts.log.append(TextDelta(summary))
            self.parts.log.append(TurnFinished(reason, summary, error, remedy))

    def summary(self) -> str:
        """Return the result as a sentence."""
        if not self.runs:
            return "No code of this session has run."
        parts = [f"{self._same} of {len(self.runs)} runs printed the same as before"]
        if self._differences:
            parts.append(f"{len(self._differences)} something else")
        if self._left_out:
            parts.append(f"{self._left_out} left out")
        if not_reached := len(self.runs) - self._same - len(self._differences) - self._left_out:
            parts.append(f"{not_reached} not reached")
        return ", ".join(parts) + "."

    def note(self) -> str:
        """Return the result as a note to the model."""
        lines = [
            f"[The kernel is new, and the code of this conversation was run again in it. {self.summary()}"
        ]
        room = _MOST_CHARS
        for difference_ in self._differences:
            lines.append(difference_[:room])
            room -= len(lines[-1])
        return "\n".join(line for line in lines if line) + "]"

    async def _rerun(self, number: int, run: LoggedRun) -> None:
        call = Call(f"{RERUN}{self.parts.log.last}-{number}", run.language, run.code)
        if not is_whole(run):
            self._left_out += 1
            self.parts.log.append(
                CodeRejected(call.id, f"run {number} contained a secret, which was not stored.")
            )
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
        await self.parts.jobs.run(approved, kernel, self.parts.resources.limits, detachable=False)
        if self.interrupts.requested:
            raise Interrupted
        self._compare(number, call.id, run, after)

    def _compare(self, number: int, call_id: str, run: LoggedRun, after: int) -> None:
        runs = RunLog.of(record.event for record in self.parts.log.since(after)).all
        now = next(one for one in runs if one.call_id == call_id)
        different = difference(run.outputs, now.outputs, f"run {number}", as_kept=self.as_kept)
        if different:
            self._differences.append(different)
        else:
            self._same += 1
        self.parts.log.append(CodeCompared(call_id, number, len(self.runs), different))
