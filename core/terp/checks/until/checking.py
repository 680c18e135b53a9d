"""One run of a check, its verdict, and the messages about it that the model reads."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from terp.checks.until.check import Check
from terp.checks.until.check_sandbox import CheckSandbox, Ran
from terp.checks.until.goal import Goal
from terp.checks.until.originals import FREE, Originals
from terp.checks.until.process import Tests
from terp.errors import TerpError
from terp.events import CheckFinished, CheckStarted
from terp.events.log import EventLog
from terp.person import Consent
from terp.person.voice import Voice
from terp.text.fencing import fenced
from terp.text.interrupts import Interrupted, Interrupts

_DECEIVED = "The code ran in the process that judged it, which it could deceive: read what changed."


@dataclass(slots=True)
class Preparing:
    """Asks whether a check may run that nobody has typed, and looks at what it is made of.

    Afterwards it is `ready`, or `error` says why it cannot be made, or neither: the person did not agree, or
    has `interrupts`.
    """

    goal: Goal
    ground: CheckSandbox
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
    ground: CheckSandbox
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


_SHOWN = 5
_INSTALLED = "site-packages"


def why_not(check: Check, ran: Ran, originals: Originals, root: Path, before: int) -> str:
    """Why a check has not passed, as a sentence; "" when it has.

    `before` is how many tests there were before the model did anything, 0 if that is not known.
    """
    status = ran.ended.status
    if status is None:
        return "It took too long and was ended."
    if ran.lost:
        return f"It is made of files that were changed and are too large to be put back: {_listed(ran.lost)}."
    if check.expression:
        return _of_expression(ran) or _touched(ran)
    if status or ran.touched:
        return _of_status(status) if status else _touched(ran)
    if ran.tests is None:
        return _UNTOLD if check.runs_pytest else ""
    return _of_tests(ran.tests, originals, root, before)


def why_not_on_disk(ran: Ran) -> str:
    """Why a check has not passed that passes with the original files, as sentences; "" when it has.

    `ran` is how it ran with all as it is on disk.
    """
    status, other = ran.ended.status, ran.other
    if status == 0 and ran.holds is not False:
        return ""
    how = "It took too long." if status is None else _of_status(status) if status else "It is not true."
    told = [f"It passes with the original files alone, and not with those on disk: {how}"]
    if restored := [*other.changed, *other.missing]:
        allowed = " ".join(f"--until-protect '{FREE}{name}'" for name in restored[:_SHOWN])
        told.append(f"Restore {_listed(restored)}, or let it be changed: {allowed}.")
    if other.new:
        told.append(f"Correct or remove what is new: {_listed(other.new)}.")
    return " ".join(told)


def result(ran: Ran) -> str:
    """How a check ran, in a few words."""
    if ran.tests is not None:
        return f"{ran.tests.passed} of {ran.tests.collected} tests passed"
    if ran.ended.status is None:
        return "ended after too long"
    return f"exit status {ran.ended.status}"


def _of_status(status: int) -> str:
    return f"It ended with exit status {status}." if status > 0 else f"It was ended by signal {-status}."


def _touched(ran: Ran) -> str:
    if not ran.touched:
        return ""
    allowed = " ".join(f"--until-protect '{FREE}{name}'" for name in ran.touched[:_SHOWN])
    return (
        f"Files of the check were written while it ran: {_listed(ran.touched)}. "
        f"If its own tests do that, allow it: {allowed}."
    )


_UNTOLD = (
    "It ended with exit status 0, but pytest has not told how its tests ended: "
    "something ended it early, or kept it from telling."
)


def _of_expression(ran: Ran) -> str:
    if ran.holds is None:
        return f"It has no value: its process ended before that, with exit status {ran.ended.status}."
    # A process that says one thing and ends with another was tampered with.
    return "" if ran.holds and not ran.ended.status else f"It is not true: its value is {ran.value}."


def _of_tests(tests: Tests, originals: Originals, root: Path, before: int) -> str:
    if tests.status or tests.failed:
        return f"The process ended with exit status 0, but {tests.failed} of its tests have failed."
    if not tests.passed:
        return "No test has passed: none ran, or all were skipped."
    if tests.ended < tests.collected:
        return f"Only {tests.ended} of {tests.collected} tests have come to their end."
    if tests.collected < before:
        return f"Only {tests.collected} tests were found; before there were {before}."
    return _of_judges(tests, originals, root)


def _of_judges(tests: Tests, originals: Originals, root: Path) -> str:
    skipping = [path for path in tests.skipped_by if _is_tested(path, originals, root)]
    if skipping:
        return f"Tests were skipped by the code that they test: {_listed(skipping)}."
    if tests.broken:
        return f"What judges the tests was replaced while they ran: {_listed(tests.broken)}."
    judges = [path for path in tests.by if _is_no_judge(path, originals, root)]
    return f"The tests were judged by code that is no part of the check: {_listed(judges)}." if judges else ""


def could_deceive(check: Check, ran: Ran, originals: Originals, root: Path) -> bool:
    """Whether code under test has run in the process that reports how its tests ended."""
    loaded = ran.tests.loaded if ran.tests else ()
    return bool(check.expression) or any(_is_tested(path, originals, root) for path in loaded)


def _is_no_judge(path: str, originals: Originals, root: Path) -> bool:
    """Whether hooks or tests are of code that the model may write, or of no file at all."""
    if path in originals.judges or _INSTALLED in Path(path).parts:
        return False
    return _is_tested(path, originals, root) if Path(path).is_relative_to(root) else not Path(path).is_file()


def _is_tested(path: str, originals: Originals, root: Path) -> bool:
    """Whether a file is one of the project's, and none of those that test it."""
    return Path(path).is_relative_to(root) and not originals.is_protected(str(Path(path).relative_to(root)))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


_NAMES_SHOWN = 10


def before_first_turn(goal: Goal) -> str:
    """What it should know before it begins."""
    return (
        f"[When you are done this is checked, in a copy of the project: {goal.check.text}\n"
        "It has to pass. Tests and their configuration count there as they are now: change the code instead. "
        "New tests count besides, and what is on disk has to pass as well.]"
    )


def not_passed(checking: Checking, *, again: bool) -> str:
    """The next message: what the check has put out, which `again` is the same, and that it has to pass."""
    goal, ran = checking.goal, checking.ran
    assert ran is not None, "it has run"
    told = [f"The check has not passed: {goal.check.text}", checking.why]
    if output := ran.ended.output.strip("\n"):
        told.append(fenced(output))
    other = ran.other
    if files := _files(ran):
        told += [files, *checking.results]
        told.append(
            "The check counts with the original files, without new ones: change the code, restore them."
        )
        told += [
            f"{name} was:\n{fenced(text)}" for name, text in goal.texts((*other.changed, *other.missing))
        ]
    if again:
        told.append("This is the same failure as before: try something else.")
    last = " This is the last time that you are asked." if checking.left == 1 else ""
    told.append(f"Go on until it passes.{last}")
    return "\n".join(told)


def passed(checking: Checking) -> str:
    """What it should know when a check has passed of which files are not as they were; "" if all are."""
    files = _files(checking.ran) if checking.ran else ""
    told = " ".join((files, *checking.results))
    return f"[The check has passed: {checking.goal.check.text}\n{told}]" if files else ""


def _files(ran: Ran) -> str:
    return changed_files(ran.other.changed, ran.other.missing, (*ran.other.new, *ran.other.tests))


def changed_files(changed: Sequence[str], missing: Sequence[str], new: Sequence[str]) -> str:
    """Which files of the check are not as before, as a sentence; "" for none."""
    kinds = (("changed", changed), ("missing", missing), ("new", new))
    told = [f"{kind} {_some(names)}" for kind, names in kinds if names]
    return f"Files of the check: {'; '.join(told)}." if told else ""


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
