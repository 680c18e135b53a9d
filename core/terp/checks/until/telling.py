"""What the model is told of a check: before its turn, and when it has not passed."""

from collections.abc import Sequence

from terp.checks.until.checking import Checking
from terp.checks.until.goal import Goal
from terp.checks.until.ground import Ran
from terp.text.fencing import fenced

_SHOWN = 10


def before(goal: Goal) -> str:
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
    told = [f"{kind} {_listed(names)}" for kind, names in kinds if names]
    return f"Files of the check: {'; '.join(told)}." if told else ""


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
