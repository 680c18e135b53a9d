"""One check of a turn, and what comes before the first: work that a session plays as it plays a turn."""

import asyncio
from dataclasses import dataclass, field, replace

from terp.checks.until.goal import Goal
from terp.checks.until.ground import Ground, Ran
from terp.checks.until.originals import Originals
from terp.checks.until.verdict import could_deceive, result, why_not, why_not_on_disk
from terp.errors import TerpError
from terp.events import CheckFinished, CheckStarted
from terp.events.log import EventLog
from terp.person import Consent
from terp.person.voice import Voice
from terp.text.interrupts import Interrupted, Interrupts

_DECEIVED = "The code ran in the process that judged it, which it could deceive: read what changed."


@dataclass(slots=True)
class Preparing:
    """Asks whether a check may run that nobody has typed, and looks at what it is made of.

    Afterwards it is `ready`, or `error` says why it cannot be made, or neither: the person did not agree, or
    has `interrupts`.
    """

    goal: Goal
    ground: Ground
    voice: Voice
    interrupts: Interrupts = field(default_factory=Interrupts)
    ready: bool = False
    error: TerpError | None = None

    async def run(self) -> None:
        """Ask and look, once for each goal."""
        try:
            self.goal.agreed = self.goal.agreed or await self.interrupts.guard(self._asked())
            if self.goal.agreed and self.goal.originals is None:
                await self.interrupts.guard(self._look())
            self.ready = self.goal.agreed
        except Interrupted:
            return
        except TerpError as error:
            self.error = error

    async def stop(self) -> None:
        """Take the question back."""
        self.interrupts.stop()

    async def _asked(self) -> bool:
        goal = self.goal
        why = f"{goal.origin} wants it to be run after each answer, until it passes."
        # Who runs all code unasked has configured this as well; what a project brings is asked about.
        return await self.voice.allow(Consent(f"Check with: {goal.check.text}", why, as_code=goal.by_person))

    async def _look(self) -> None:
        goal, ground = self.goal, self.ground
        originals = await asyncio.to_thread(ground.originals, goal.check, goal.protect)
        if goal.check.is_pytest:
            async with self.voice.working("Looking at the tests"):
                tests = await ground.tests_of(goal.check, originals, goal.bounds)
            if tests is not None:
                goal.before = tests.collected
                originals = await asyncio.to_thread(ground.originals, goal.check, goal.protect, tests)
        goal.originals = originals


@dataclass(slots=True)
class Checking:
    """Runs a check. Afterwards there is what it `ran` as and `why` it has not passed, or an `error`.

    Where files of it are not as they were, it runs twice: with the originals alone, which decides, and with
    what is on disk, which must pass as well. `results` tells how both ran. `left` is how many more times the
    model would be asked; None is without a limit.
    """

    goal: Goal
    ground: Ground
    attempt: int
    left: int | None
    log: EventLog
    interrupts: Interrupts = field(default_factory=Interrupts)
    ran: Ran | None = None
    why: str = ""
    results: tuple[str, ...] = ()
    error: TerpError | None = None

    async def run(self) -> None:
        """Run it to its end; both events of it are logged, whatever happens."""
        goal, originals = self.goal, self.goal.originals
        assert originals is not None, "it was prepared"
        self.log.append(CheckStarted(goal.check.text, self.attempt, self.ground.tier))
        finished = CheckFinished(self.attempt, passed=False, status=None, why="It was interrupted.")
        try:
            await self.interrupts.guard(self._run(originals))
            finished = self._finished()
        except Interrupted:
            return
        except TerpError as error:
            self.error = error
            finished = CheckFinished(self.attempt, passed=False, status=None, why=error.message)
        finally:
            self.log.append(finished)

    async def _run(self, originals: Originals) -> None:
        goal, ground = self.goal, self.ground
        ran = await ground.run(goal.check, originals, goal.bounds)
        self.why = why_not(goal.check, ran, originals, ground.root, goal.before)
        if ran.other.tests:
            self.results = ("There were no tests before, so the new ones decide.",)
        if not self.why and ran.other.put_back:
            disk = await ground.run(goal.check, originals, goal.bounds, on_disk=True)
            self.why = why_not_on_disk(disk)
            first, second = result(ran), result(disk)
            self.results += (f"With the original files alone: {first}.", f"With all files on disk: {second}.")
            took = ran.ended.seconds + disk.ended.seconds
            ran = replace(disk if self.why else ran, other=ran.other)
            ran = replace(ran, ended=replace(ran.ended, seconds=took))
        if not self.why and could_deceive(goal.check, ran, originals, ground.root):
            self.results += (_DECEIVED,)
        self.ran = ran

    def _finished(self) -> CheckFinished:
        ran = self.ran
        assert ran is not None, "it has run"
        return CheckFinished(
            self.attempt,
            not self.why,
            ran.ended.status,
            self.why,
            ran.ended.output,
            ran.ended.seconds,
            ran.other.changed,
            self.left,
            ran.other.missing,
            (*ran.other.new, *ran.other.tests),
            self.results,
        )

    async def stop(self) -> None:
        """End its process."""
        self.interrupts.stop()
