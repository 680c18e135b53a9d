"""One run of a check, its verdict, and the messages about it that the model reads."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from terp.checks.until.check_sandbox import CheckResult, CheckSandbox, PytestReport
from terp.checks.until.goal import Check, Goal
from terp.checks.until.originals import FREE, Originals
from terp.errors import TerpError
from terp.events import CheckFinished, CheckStarted
from terp.events.log import EventLog
from terp.person import Consent
from terp.person.dialog import UserDialog
from terp.session.foreground import Interrupted, Task
from terp.text.dataclasses import dataclass, replace
from terp.text.fences import fenced
from terp.text.wording import first_names

_COULD_DECEIVE = "The code ran in the process that judged it, which it could deceive: read what changed."


@dataclass(slots=True)
class Preparing(Task):
    """Asks for consent to a check that the user has not typed, and reads the files that it consists of.

    Afterwards it is `ready`, or has an `error`, or neither if the user declined or interrupted.
    """

    goal: Goal
    sandbox: CheckSandbox
    dialog: UserDialog
    ready: bool = False
    error: TerpError | None = None

    async def run(self) -> None:
        """Ask and read, once for each goal."""
        try:
            self.goal.agreed = self.goal.agreed or await self.interrupts.guard(self._allowed())
            if self.goal.agreed and self.goal.originals is None:
                await self.interrupts.guard(self._read_originals())
            self.ready = self.goal.agreed
        except Interrupted:
            return
        except TerpError as error:
            self.error = error

    async def _allowed(self) -> bool:
        goal = self.goal
        why = f"{goal.origin} asks to run it after each answer, until it passes."
        # A user who lets all code run unasked has configured this check too; one of a project is asked about.
        return await self.dialog.allow(Consent(f"Check with: {goal.check.text}", why, as_code=goal.by_person))

    async def _read_originals(self) -> None:
        goal, sandbox = self.goal, self.sandbox
        originals = await asyncio.to_thread(sandbox.originals, goal)
        if goal.check.is_pytest:
            async with self.dialog.working("Looking at the tests"):
                tests = await sandbox.tests_of(goal, originals)
            if tests is not None:
                goal.before = tests.collected
                originals = await asyncio.to_thread(sandbox.originals, goal, tests)
        goal.originals = originals


@dataclass(slots=True)
class Checking(Task):
    """Runs a check. Afterwards it has a `result`, and in `why` the reason for a failure; or an `error`.

    If files of the check differ from the originals, it runs twice: with the originals, which decides, and
    with the files on disk, which must pass as well. `summaries` then describe both runs. `left` is the number
    of further prompts to the model; None is without a limit.
    """

    goal: Goal
    sandbox: CheckSandbox
    attempt: int
    left: int | None
    log: EventLog
    result: CheckResult | None = None
    why: str = ""
    summaries: tuple[str, ...] = ()
    error: TerpError | None = None

    async def run(self) -> None:
        """Run it to its end; its two events are logged in any case."""
        goal, originals = self.goal, self.goal.originals
        assert originals is not None, "it was prepared"
        self.log.append(CheckStarted(goal.check.text, self.attempt, self.sandbox.tier))
        finished = CheckFinished(self.attempt, passed=False, status=None, why="It was interrupted.")
        try:
            result = await self.interrupts.guard(self._run(originals))
            self.result, finished = result, self._finished(result)
        except Interrupted:
            return
        except TerpError as error:
            self.error = error
            finished = CheckFinished(self.attempt, passed=False, status=None, why=error.message)
        finally:
            self.log.append(finished)

    async def _run(self, originals: Originals) -> CheckResult:
        goal, sandbox = self.goal, self.sandbox
        result = await sandbox.run(goal, originals)
        self.why = why_not(goal.check, result, originals, sandbox.root, goal.before)
        if result.other.tests:
            self.summaries = ("There were no tests before, so the new ones decide.",)
        if not self.why and result.other.restored:
            disk = await sandbox.run(goal, originals, on_disk=True)
            self.why = why_not_on_disk(disk)
            first, second = summary(result), summary(disk)
            self.summaries += (
                f"With the original files alone: {first}.", f"With all files on disk: {second}."
            )  # fmt: skip
            seconds = result.process.seconds + disk.process.seconds
            process = replace((disk if self.why else result).process, seconds=seconds)
            result = replace(disk if self.why else result, other=result.other, process=process)
        if not self.why and could_deceive(goal.check, result, originals, sandbox.root):
            self.summaries += (_COULD_DECEIVE,)
        return result

    def _finished(self, result: CheckResult) -> CheckFinished:
        process, other = result.process, result.other
        return CheckFinished(
            self.attempt,
            not self.why,
            process.status,
            self.why,
            process.output,
            process.seconds,
            other.changed,
            self.left,
            other.missing,
            (*other.new, *other.tests),
            self.summaries,
        )


_SHOWN, _NAMES_SHOWN = 5, 10
_INSTALLED = "site-packages"
_NOT_REPORTED = (
    "It ended with exit status 0, but pytest has not reported how its tests ended: "
    "something ended it early, or kept it from reporting."
)


def why_not(check: Check, result: CheckResult, originals: Originals, root: Path, before: int) -> str:
    """Return the reason why a check has not passed, as a sentence; "" when it has.

    `before` is the number of tests before the model did anything, 0 if it is not known.
    """
    status = result.process.status
    if status is None:
        return "It took too long and was ended."
    if result.lost:
        return f"Files of the check were changed and are too large to be restored: {_listed(result.lost)}."
    if check.expression:
        return _of_expression(result) or _of_touched(result)
    if status or result.touched:
        return _of_status(status) if status else _of_touched(result)
    if result.tests is None:
        return _NOT_REPORTED if check.runs_pytest else ""
    return _of_tests(result.tests, originals, root, before)


def why_not_on_disk(result: CheckResult) -> str:
    """Return the reason why a check that passes with the original files has not passed with those on disk."""
    status, other = result.process.status, result.other
    if status == 0 and result.holds is not False:
        return ""
    how = "It took too long." if status is None else _of_status(status) if status else "It is not true."
    parts = [f"It passes with the original files alone, and not with those on disk: {how}"]
    if restored := [*other.changed, *other.missing]:
        parts.append(f"Restore {_listed(restored)}, or let it be changed: {_options(restored)}.")
    if other.new:
        parts.append(f"Correct or remove what is new: {_listed(other.new)}.")
    return " ".join(parts)


def summary(result: CheckResult) -> str:
    """Return the outcome of one run in a few words."""
    if result.tests is not None:
        return f"{result.tests.passed} of {result.tests.collected} tests passed"
    if result.process.status is None:
        return "ended after too long"
    return f"exit status {result.process.status}"


def _of_status(status: int) -> str:
    return f"It ended with exit status {status}." if status > 0 else f"It was ended by signal {-status}."


def _of_touched(result: CheckResult) -> str:
    if not result.touched:
        return ""
    return (
        f"Files of the check were written while it ran: {_listed(result.touched)}. "
        f"If its own tests do that, allow it: {_options(result.touched)}."
    )


def _options(names: Sequence[str]) -> str:
    """Return the options with which the user would allow changes of files."""
    return " ".join(f"--until-protect '{FREE}{name}'" for name in names[:_SHOWN])


def _of_expression(result: CheckResult) -> str:
    status = result.process.status
    if result.holds is None:
        return f"The expression has no value: its process ended first, with exit status {status}."
    # A process whose report and status disagree was tampered with.
    return "" if result.holds and not status else f"The expression is not true: its value is {result.value}."


def _of_tests(tests: PytestReport, originals: Originals, root: Path, before: int) -> str:
    if tests.status or tests.failed:
        return f"The process ended with exit status 0, but {tests.failed} of its tests have failed."
    if not tests.passed:
        return "No test has passed: none ran, or all were skipped."
    if tests.ended < tests.collected:
        return f"Only {tests.ended} of {tests.collected} tests have finished."
    if tests.collected < before:
        return f"Only {tests.collected} tests were found; before there were {before}."
    return _of_judges(tests, originals, root)


def _of_judges(tests: PytestReport, originals: Originals, root: Path) -> str:
    skipping = [path for path in tests.skipped_by if _is_tested(path, originals, root)]
    if skipping:
        return f"Tests were skipped by the code that they test: {_listed(skipping)}."
    if tests.broken:
        return f"Code that judges the tests was replaced while they ran: {_listed(tests.broken)}."
    judges = [path for path in tests.by if _is_no_judge(path, originals, root)]
    return f"The tests were judged by code that is no part of the check: {_listed(judges)}." if judges else ""


def could_deceive(check: Check, result: CheckResult, originals: Originals, root: Path) -> bool:
    """Return True if code under test ran in the process that reported how its tests ended."""
    loaded = result.tests.loaded if result.tests else ()
    return bool(check.expression) or any(_is_tested(path, originals, root) for path in loaded)


def _is_no_judge(path: str, originals: Originals, root: Path) -> bool:
    """Return True for a file with hooks or tests that the model may write, and for a path that is no file."""
    if path in originals.judges or _INSTALLED in Path(path).parts:
        return False
    return _is_tested(path, originals, root) if Path(path).is_relative_to(root) else not Path(path).is_file()


def _is_tested(path: str, originals: Originals, root: Path) -> bool:
    """Return True for a file of the project that is no part of the check."""
    return Path(path).is_relative_to(root) and str(Path(path).relative_to(root)) not in originals.files


def _listed(names: Sequence[str]) -> str:
    return first_names(names, _SHOWN)


def before_first_turn(goal: Goal) -> str:
    """Return the message that announces the check to the model before its first turn."""
    return (
        f"[When you are done this is checked, in a copy of the project: {goal.check.text}\n"
        "It has to pass. Tests and their configuration count there as they are now: change the code instead. "
        "New tests count besides, and what is on disk has to pass as well.]"
    )


def not_passed(checking: Checking, *, again: bool) -> str:
    """Return the next prompt after a check that failed: its output, `again` if it is the same as before."""
    goal, result = checking.goal, checking.result
    assert result is not None, "it has run"
    parts = [f"The check has not passed: {goal.check.text}", checking.why]
    if output := result.process.output.strip("\n"):
        parts.append(fenced(output))
    other = result.other
    if files := _files(result):
        parts += [files, *checking.summaries]
        parts.append(
            "The check counts with the original files, without new ones: change the code, restore them."
        )
        parts += [
            f"{name} was:\n{fenced(text)}" for name, text in goal.texts((*other.changed, *other.missing))
        ]
    if again:
        parts.append("This is the same failure as before: try something else.")
    last = " This is the last time that you are asked." if checking.left == 1 else ""
    parts.append(f"Go on until it passes.{last}")
    return "\n".join(parts)


def passed(checking: Checking) -> str:
    """Return a message for the model if a check passed whose files differ from the originals; else ""."""
    files = _files(checking.result) if checking.result else ""
    text = " ".join((files, *checking.summaries))
    return f"[The check has passed: {checking.goal.check.text}\n{text}]" if files else ""


def _files(result: CheckResult) -> str:
    return changed_files(result.other.changed, result.other.missing, (*result.other.new, *result.other.tests))


def changed_files(changed: Sequence[str], missing: Sequence[str], new: Sequence[str]) -> str:
    """Return a sentence about the files of a check that differ from the originals; "" for none."""
    kinds = (("changed", changed), ("missing", missing), ("new", new))
    parts = [f"{kind} {first_names(names, _NAMES_SHOWN)}" for kind, names in kinds if names]
    return f"Files of the check: {'; '.join(parts)}." if parts else ""
