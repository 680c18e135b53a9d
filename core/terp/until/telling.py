"""What the model is told of a check: before its turn, and when it has not passed."""

from collections.abc import Sequence

from terp.fencing import fenced
from terp.until.goal import Goal
from terp.until.ground import Ran

_SHOWN = 10


def before(goal: Goal) -> str:
    """What it should know before it begins."""
    return (
        f"[When you are done this is checked, in a copy of the project: {goal.check.text}\n"
        "It has to pass. Tests and their configuration count there as they are now: change the code instead.]"
    )


def not_passed(goal: Goal, ran: Ran, why: str, left: int | None, *, again: bool) -> str:
    """The next message: what the check has put out, which `again` is the same, and that it has to pass."""
    told = [f"The check has not passed: {goal.check.text}", why]
    if output := ran.ended.output.strip("\n"):
        told.append(fenced(output))
    if ran.changed:
        told.append(
            f"{changed_files(ran.changed)} The check does not use your version: change the code instead."
        )
    if again:
        told.append("This is the same failure as before: try something else.")
    last = " This is the last time that you are asked." if left == 1 else ""
    told.append(f"Go on until it passes.{last}")
    return "\n".join(told)


def changed_files(names: Sequence[str]) -> str:
    """That files of the check are not as they were, as a sentence."""
    more = len(names) - _SHOWN
    listed = ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    what = "This file of the check is" if len(names) == 1 else "These files of the check are"
    return f"{what} not as before: {listed}."
