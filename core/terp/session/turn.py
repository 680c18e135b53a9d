"""The turn: ask the model, run what the person approves, let the model read the results, again."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

from terp.errors import StopReason, TerpError
from terp.events import CodeDeclined, CodeRejected, Progress, TurnFinished
from terp.events.kernel import Kernel, remedy_for
from terp.events.messages import Image, Result, ToolCall
from terp.models import tool
from terp.person import Decline
from terp.session.job import Job, still_running
from terp.session.limits import Failures
from terp.session.parts import Parts
from terp.text.interrupts import Interrupted, Interrupts


class _Stop(Exception):
    """The turn ends here, for a reason that is no failure of the program."""

    def __init__(self, reason: StopReason, error: str = "", remedy: str = "") -> None:
        super().__init__(reason)
        self.reason: StopReason = reason
        self.error = error
        self.remedy = remedy


@dataclass(slots=True)
class Turn:
    """One turn over the parts of a session. `run` logs its events and ends with `TurnFinished`.

    `left_over` are calls of a reply before, which a turn that broke off has not come to; `first_step`
    is the number of the next reply. A call of one of `functions` runs as the Python code that calls
    what stands for it there. Errors, which quote what was sent, are told as `without_secrets` leaves them.
    """

    parts: Parts
    interrupts: Interrupts
    late: Callable[[], str]
    functions: Mapping[str, str] = field(default_factory=dict)
    left_over: Sequence[tuple[str, ToolCall]] = ()
    first_step: int = 1
    without_secrets: Callable[[str], str] = str
    _answer: str = ""

    async def run(self) -> None:
        """Go on until the model calls no more code, or something ends the turn.

        Whatever happens, every call in the history has its result afterwards.
        """
        failures, why = Failures(self.parts.limits.max_failures), "the turn ended before it."
        finished = TurnFinished("error", "", "The turn broke off.")
        try:
            with self.parts.conversation.budget.turn(), self.parts.jobs.telling():
                finished = TurnFinished("done", await self._rounds(failures))
        except Interrupted:
            why = "the person interrupted the turn."
            self.parts.jobs.tell_going_on()
            finished = TurnFinished("interrupted", self._answer)
        except _Stop as stop:
            finished = TurnFinished(stop.reason, self._answer, stop.error, stop.remedy)
        except TerpError as error:
            finished = TurnFinished(
                error.stop_reason, self._answer, self.without_secrets(error.message), error.remedy
            )
        finally:
            self.parts.conversation.settle(why)
            self.parts.log.append(finished)

    async def stop(self) -> None:
        """Interrupt the model or the code; returns when nothing of it runs any more."""
        self.interrupts.stop()
        await self.parts.jobs.interrupt()

    async def _rounds(self, failures: Failures) -> str:
        await self._serve_all(self.left_over, failures)
        for step in count(self.first_step):
            self._check_steps(step)
            reply = await self.interrupts.guard(self.parts.conversation.reply(step))
            self._answer = reply.text
            await self._serve_all(reply.calls, failures)
            if reply.is_last:
                break
        return self._answer

    async def _serve_all(self, calls: Sequence[tuple[str, ToolCall]], failures: Failures) -> None:
        failed = False
        for call_id, call in calls:
            if failed:
                self._skip(call_id, call, "an earlier call of the same reply failed")
            else:
                failed = await self._serve(call_id, call, failures)
        # Not after each: the model has read nothing of it before its next reply.
        failures.replied()
        self._check_failures(failures, "The model's calls could not be understood")

    def _check_steps(self, step: int) -> None:
        most = self.parts.limits.max_steps
        if most and step > most:
            raise _Stop(
                "max_steps",
                f"Stopped: the model has replied {_times(most)} in this turn (max_steps).",
                "Raise --max-steps, or say 'go on' at the prompt.",
            )

    async def _serve(self, call_id: str, asked: ToolCall, failures: Failures) -> bool:
        """Answer one call of the model with one result, or raise what ends the turn.

        Whether its code ran and failed.
        """
        call: tool.Call | tool.Misunderstood = tool.NOT_OFFERED
        if self.parts.conversation.offers_code:
            call = tool.understand(
                asked, self.parts.kernels.languages, functions=self.functions, call_id=call_id
            )
        if isinstance(call, tool.Misunderstood):
            remedy = remedy_for(call.language, self.parts.kernels.known()) if call.language else ""
            reason = f"{call.reason} The user can add it: {remedy}" if remedy else call.reason
            self.parts.log.append(CodeRejected(call_id, reason))
            self._result(asked, reason)
            failures.malformed()
            return False
        kernel = self.parts.kernels.get(call.language)
        if (job := self.parts.jobs.in_the_way(kernel)) and (why := await self._waited_for(job)):
            self._skip(call_id, asked, f"{job.name}, for which it waited, {why}")
            return True
        ready = ""
        while True:
            decision = await self.interrupts.guard(self.parts.proposals.decide(call, kernel))
            if isinstance(decision, Decline):
                self._decline(asked, call_id, decision)
                return False
            call = tool.Call(call_id, call.language, decision.code)
            ready += await self.interrupts.guard(self.parts.readiness.before(call, kernel))
            # What is made ready takes its time: what holds new kernels may have been changed meanwhile.
            if self.parts.proposals.is_held_as_shown(kernel):
                return await self._run(asked, call, kernel, ready, failures)

    def _skip(self, call_id: str, asked: ToolCall, why: str) -> None:
        """Answer a call whose forerunner failed: it was written for another outcome."""
        self.parts.log.append(CodeRejected(call_id, f"{why}."))
        self._result(asked, f"{self.parts.jobs.outcomes()}Not run: {why}.")

    async def _waited_for(self, job: Job) -> str:
        """Wait for a job, which has the kernel; what is wrong with its end, "" for nothing.

        Until then nobody is asked about the code.
        """
        log, what = self.parts.log, f"waiting for {job.name}"
        log.append(Progress(what, 0, 0, 0.0))
        observed = await self.interrupts.guard(self.parts.jobs.wait(job))
        log.append(Progress(what, 1, 1, 0.0))
        if observed is None:
            return "broke off"
        if observed.status == "interrupted":
            return "was interrupted"
        return "has failed" if observed.failed else ""

    def _decline(self, asked: ToolCall, call_id: str, decision: Decline) -> None:
        self.parts.log.append(CodeDeclined(call_id, decision.reason))
        said = f" They said: {decision.reason}" if decision.reason else ""
        by_person = decision.by == "person"
        told = f"the person declined to run this code.{said}" if by_person else decision.reason
        self._result(asked, f"Not run: {told}")
        if decision.stop:
            raise _Stop("declined")

    async def _run(
        self, asked: ToolCall, call: tool.Call, kernel: Kernel, ready: str, failures: Failures
    ) -> bool:
        observed = await self.parts.jobs.run(call, kernel, self.parts.limits)
        if isinstance(observed, Job):
            self._result(asked, self._before() + ready + still_running(observed))
            return False
        # Interrupted or not, the code has run, and the model must read what it did.
        with suppress(Interrupted):
            ready += await self.interrupts.guard(self.parts.readiness.after(call, kernel, observed.error))
        same = failures.ran(call, observed.error, failed=observed.failed)
        again = "\n[same error as before; try something else]" if same else ""
        self._result(asked, self._before() + ready + observed.text + again, observed.images)
        if self.interrupts.requested:
            raise Interrupted
        self._check_failures(failures, "The same error came")
        return observed.failed

    def _before(self) -> str:
        """What the model reads before a result: what came of jobs, and what earlier runs put out late."""
        return self.parts.jobs.outcomes() + self.late()

    def _result(self, asked: ToolCall, text: str, images: Sequence[Image] = ()) -> None:
        self.parts.conversation.history.append(Result(asked.id, text, tuple(images)))

    def _check_failures(self, failures: Failures, what: str) -> None:
        if failures.exhausted:
            raise _Stop(
                "repeated_failure",
                f"{what} {self.parts.limits.max_failures} times in a row, so the turn stopped.",
                "Say what to do differently.",
            )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
