"""Whether a check has passed, of all that is known about how it ran."""

from collections.abc import Sequence
from pathlib import Path

from terp.checks.until.check import Check
from terp.checks.until.ground import Ran
from terp.checks.until.originals import FREE, Originals
from terp.checks.until.report import Tests

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
