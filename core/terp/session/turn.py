"""The turn: ask the model, run what the user approves, let the model read the results, again."""

import shlex
from collections.abc import Sequence
from contextlib import suppress
from itertools import count

from terp.errors import StopReason, TerpError
from terp.events import (
    CodeDeclined,
    CodeRejected,
    CodeTyped,
    Event,
    JobChanged,
    Noticed,
    Progress,
    TurnFinished,
)
from terp.events.error_text import signature
from terp.events.kernel import Kernel, Kernels, remedy_for
from terp.events.log import EventLog
from terp.events.messages import Image, Result, ToolCall
from terp.events.outputs import Error
from terp.kernels.environments.readiness import Readiness
from terp.kernels.sandbox.effects import effects_of
from terp.models import tool
from terp.person import Decline
from terp.session.conversation import Conversation
from terp.session.foreground import Interrupted, Task
from terp.session.jobs import Job, Jobs, still_running
from terp.session.observation import BetweenRuns
from terp.session.proposals import Proposals
from terp.session.resources import SessionResources
from terp.text.dataclasses import dataclass
from terp.text.fences import fenced
from terp.text.note_mark import NoteMark

_MOST_RULES = 3

TYPED = "typed"
"""The beginning of the call IDs of code that the user typed."""
_NO_INSTALLER = "No package is installed where this code runs. Code can run %pip install instead."
_BROKEN = "Stopped: a watched condition is broken."
_BROKEN_REMEDY = "The model knows; say what to do. Conditions are changed by /watch or --watch-condition."
SENT = "sent"
"""The beginning of the call IDs of code that a client of a server sent."""


class Failures:
    """Counts equal failures in a row within one turn."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._last: object = None
        self._count = 0
        self._malformed = False
        self._error: object = None

    def ran(self, call: tool.Call, error: Error | None, *, failed: bool) -> bool:
        """Note the end of a run; return True if it failed as the turn's last failed run did."""
        if not failed:
            self._note(None)
            return False
        known = signature(error) if error else ()
        # Without a source line, equal messages may come from different code.
        what = known if len(known) > 2 else (*known, call.language, call.code.strip())
        self._note(what)
        before, self._error = self._error, what
        return before == what

    def malformed(self) -> None:
        """Note a call that could not be understood."""
        self._malformed = True

    def replied(self) -> None:
        """Note the end of a reply: its malformed calls count once."""
        if self._malformed:
            self._note("malformed")
        self._malformed = False

    def _note(self, what: object) -> None:
        self._count = self._count + 1 if what == self._last else 1
        self._last = what

    @property
    def exhausted(self) -> bool:
        """True if the limit is reached."""
        return self._last is not None and 0 < self._limit <= self._count


@dataclass(slots=True)
class SessionParts:
    """The parts of a session that its tasks work with: turns, typed code, reruns."""

    log: EventLog
    conversation: Conversation
    kernels: Kernels
    proposals: Proposals
    readiness: Readiness
    jobs: Jobs
    between: BetweenRuns
    resources: SessionResources


class _Stop(Exception):
    """Raised to end the turn for a reason that is not an error of terp."""

    def __init__(self, reason: StopReason, error: str = "", remedy: str = "") -> None:
        super().__init__(reason)
        self.reason: StopReason = reason
        self.error = error
        self.remedy = remedy


@dataclass(slots=True)
class SessionTask(Task):
    """A task that runs code in a session's kernels; unless a kind says otherwise `TurnFinished` ends it."""

    parts: SessionParts

    async def stop(self) -> None:
        """Interrupt the model or the code; return when nothing of it runs any more."""
        self.interrupts.stop()
        await self.parts.jobs.interrupt()

    async def decided(self, call: tool.Call, kernel: Kernel) -> tuple[tool.Call | Decline, str]:
        """Have a call approved and prepared for.

        Return it as it may run, or the refusal; and the notes of the preparations for the model.

        Raises:
            Interrupted, TerpError: it cannot run.
        """
        ready, ask = "", False
        while True:
            decision = await self.interrupts.guard(self.parts.proposals.decide(call, kernel, ask=ask))
            if isinstance(decision, Decline):
                return decision, ready
            call = tool.Call(call.id, call.language, decision.code, held=decision.held)
            ready += await self.interrupts.guard(self.parts.readiness.before(call, kernel))
            # The kernel that runs now may be one from before effects were held.
            ask = decision.held and effects_of(kernel) is None
            # Preparing takes time: the sandbox of new kernels may have been changed meanwhile.
            if self.parts.proposals.has_shown_tier(kernel) and not ask:
                return call, ready

    def ends_with(self, event: Event) -> bool:
        """Return True for `TurnFinished`: later events of a kernel belong to no turn."""
        return isinstance(event, TurnFinished)


@dataclass(slots=True)
class Turn(SessionTask):
    """One turn of a session. `run` logs its events and ends with `TurnFinished`.

    `left_over` are calls of the last reply that an earlier process did not reach; `first_step` is the number
    of the next reply.
    """

    left_over: Sequence[tuple[str, ToolCall]] = ()
    first_step: int = 1
    _answer: str = ""

    async def run(self) -> None:
        """Continue until the model calls no more code, or something ends the turn.

        In any case, every call in the history has its result afterwards.
        """
        failures, why = Failures(self.parts.resources.limits.max_failures), "the turn ended before it."
        finished = TurnFinished("error", "", "The turn broke off.")
        try:
            with self.parts.conversation.requests.budget.turn(), self.parts.jobs.turn():
                finished = self._finished(await self._rounds(failures))
        except Interrupted:
            why = "the person interrupted the turn."
            self.parts.jobs.report_running()
            finished = TurnFinished("interrupted", self._answer)
        except _Stop as stop:
            finished = TurnFinished(stop.reason, self._answer, stop.error, stop.remedy)
        except TerpError as error:
            finished = TurnFinished(
                error.stop_reason,
                self._answer,
                # Messages of providers quote what was sent to them.
                self.parts.resources.redacted(error.message),
                error.remedy,
            )
        finally:
            self.parts.conversation.settle(why)
            self.parts.log.append(finished)

    def _finished(self, answer: str) -> TurnFinished:
        refused = self.parts.jobs.unanswered()
        if not refused:
            return TurnFinished("done", answer)
        several = len(refused) > 1
        effects = f"{len(refused):,} effects of the code were" if several else "An effect of the code was"
        rules = [f"--allow {shlex.quote(rule)}" for rule in dict.fromkeys(refused) if rule]
        more = " …" if len(rules) > _MOST_RULES else ""
        allow = f", or allow {'them' if several else 'it'} by {' '.join(rules[:_MOST_RULES])}{more}"
        return TurnFinished(
            "approval_needed",
            answer,
            f"{effects} refused, because nobody was there to be asked.",
            self.parts.resources.redacted(f"Run terp on a terminal{allow if rules else ''}."),
        )

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
        # Not after each call: the model reads their results only before its next reply.
        failures.replied()
        self._check_failures(failures, "The model's calls could not be understood")

    def _check_steps(self, step: int) -> None:
        most = self.parts.resources.limits.max_steps
        if most and step > most:
            raise _Stop(
                "max_steps",
                f"Stopped: the model has replied {_times(most)} in this turn (max_steps).",
                "Raise --max-steps, or type 'go on' at the prompt.",
            )

    async def _serve(self, call_id: str, asked: ToolCall, failures: Failures) -> bool:
        """Answer one call of the model with one result; return True if the code ran and failed.

        Raises:
            _Stop, TerpError, Interrupted: the turn ends.
        """
        call: tool.Call | tool.Misunderstood = tool.NOT_OFFERED
        if self.parts.conversation.requests.offers_code:
            functions = self.parts.resources.functions
            call = tool.understand(asked, self.parts.kernels.languages, functions=functions, call_id=call_id)
        if isinstance(call, tool.Misunderstood):
            remedy = remedy_for(call.language, self.parts.kernels.known()) if call.language else ""
            reason = f"{call.reason} The user can add it: {remedy}" if remedy else call.reason
            self.parts.log.append(CodeRejected(call_id, reason))
            self._result(asked, self._mark.sentence(reason))
            failures.malformed()
            return False
        kernel = self.parts.kernels.get(call.language)
        if (job := self.parts.jobs.blocking(kernel)) and (why := await self._waited_for(job)):
            self._skip(call_id, asked, f"{job.name}, for which it waited, {why}")
            return True
        decided, ready = await self.decided(call, kernel)
        if isinstance(decided, Decline):
            self._decline(asked, call_id, decided)
            return False
        return await self._run(asked, decided, kernel, ready, failures)

    def _skip(self, call_id: str, asked: ToolCall, why: str) -> None:
        """Answer a call without running it: it was written for another outcome of the call before it."""
        self.parts.log.append(CodeRejected(call_id, f"{why}."))
        self._result(asked, self.parts.jobs.outcomes() + self._mark.sentence(f"Not run: {why}."))

    async def _waited_for(self, job: Job) -> str:
        """Wait for the job that occupies the kernel; return its failure, or "".

        Until then the user is not asked about the code.
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
        why = f"the person declined to run this code.{said}" if by_person else decision.reason
        self._result(asked, self._mark.sentence(f"Not run: {why}"))
        if decision.stop:
            raise _Stop("declined")

    async def _run(
        self, asked: ToolCall, call: tool.Call, kernel: Kernel, ready: str, failures: Failures
    ) -> bool:
        observed = await self.parts.jobs.run(call, kernel, self.parts.resources.limits)
        if isinstance(observed, Job):
            self._result(asked, self._before() + ready + still_running(observed, self._mark))
            return False
        # Interrupted or not, the code has run, and the model must read its result.
        with suppress(Interrupted):
            ready += await self.interrupts.guard(self.parts.readiness.after(call, kernel, observed.error))
        same = failures.ran(call, observed.error, failed=observed.failed)
        again = [self._mark.note("same error as before; try something else")] if same else []
        text = "\n".join([observed.text, *again])
        self._result(asked, self._before() + ready + text, observed.images)
        if self.interrupts.requested:
            raise Interrupted
        if observed.broken:
            raise _Stop("watch_broken", _BROKEN, _BROKEN_REMEDY)
        self._check_failures(failures, "The same error came")
        return observed.failed

    @property
    def _mark(self) -> NoteMark:
        return self.parts.resources.note_mark

    def _before(self) -> str:
        """Return what the model reads before a result: results of jobs, and late output of earlier runs."""
        return self.parts.jobs.outcomes() + self.parts.between.text()

    def _result(self, asked: ToolCall, text: str, images: Sequence[Image] = ()) -> None:
        self.parts.conversation.history.append(Result(asked.id, text, tuple(images)))

    def _check_failures(self, failures: Failures, what: str) -> None:
        if failures.exhausted:
            raise _Stop(
                "repeated_failure",
                f"{what} {self.parts.resources.limits.max_failures} times in a row, so the turn stopped.",
                "Say what to do differently.",
            )


@dataclass(slots=True)
class TypedRun(SessionTask):
    """A run of code that the user typed; the model reads of it in a note with the next message."""

    call: tool.Call
    kernel: Kernel

    async def run(self) -> None:
        """Run the code to its end; errors are logged."""
        try:
            ready = await self.prepare()
            if ready is None:
                return
            observed = await self.parts.jobs.run(self.call, self.kernel, self.parts.resources.limits)
        except Interrupted:
            self.parts.log.append(CodeRejected(self.call.id, "interrupted before it ran"))
        except TerpError as error:
            self.parts.log.append(CodeRejected(self.call.id, error.message))
            self.parts.log.append(Noticed(error.message, error.remedy))
        else:
            if isinstance(observed, Job):
                self._note(ready + still_running(observed, self.parts.resources.note_mark))
                return
            with suppress(Interrupted):
                after = self.parts.readiness.after(self.call, self.kernel, observed.error)
                ready += await self.interrupts.guard(after)
            self._note(ready + observed.text)

    async def prepare(self) -> str | None:
        """Prepare for the code; return notes for the model."""
        self.parts.log.append(CodeTyped(self.call.id, self.call.language, self.call.code))
        return await self.interrupts.guard(self.parts.readiness.before(self.call, self.kernel))

    def ends_with(self, event: Event) -> bool:
        """Return True if the run is detached: it continues as a background job."""
        return isinstance(event, JobChanged) and event.state == "background" and event.call_id == self.call.id

    def _note(self, result: str) -> None:
        code = fenced(self.call.code, self.call.language)
        before, its = map(
            self.parts.resources.note_mark.note, ("Before this message I ran this myself:", "Its result:")
        )
        self.parts.conversation.history.note(f"{before}\n{code}\n{its}\n{result}")


@dataclass(slots=True)
class SentRun(TypedRun):
    """A run of code that a client of a server sent: it is approved as the model's code is."""

    async def prepare(self) -> str | None:
        """Have the code approved, and prepare for it; return None if it was declined."""
        decided, ready = await self.decided(self.call, self.kernel)
        if isinstance(decided, Decline):
            self.parts.log.append(CodeDeclined(self.call.id, decided.reason))
            return None
        self.call = decided
        return ready


@dataclass(slots=True)
class Install(SessionTask):
    """Installs packages for the Python kernel as far as the setting or the user allows it."""

    packages: Sequence[str]

    async def run(self) -> None:
        """Install them; the outcome is logged, and noted for the model."""
        installer, notes = self.parts.resources.packages, [_NO_INSTALLER]
        try:
            if installer is not None:
                notes = await self.interrupts.guard(installer.provide(self.packages))
        except Interrupted:
            notes = ["The installation was interrupted."]
        except TerpError as error:
            notes = [error.message]
        for note in notes or [f"{', '.join(self.packages)}: already installed."]:
            self.parts.log.append(Noticed(note))
            self.parts.conversation.history.note(self.parts.resources.note_mark.note(note))


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
