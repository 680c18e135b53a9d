"""The command by which turns go on until a check passes."""

from terp.checks.until.goal import Goal, current_goal, goal_of
from terp_cli.repl.commands.table import misused
from terp_cli.repl.commands.talk import Talk

OFF = "off"


async def set_check(talk: Talk, text: str) -> None:
    """Tell the check, set one, or end it. One that is typed needs no other question."""
    session = talk.session
    if text.strip() == OFF:
        was, session.equipment.goal = current_goal(session.equipment), None
        talk.say("Turns end with the answer now." if was else "There was no check.")
        return
    if not text.strip():
        talk.say(_told(current_goal(session.equipment)))
        return
    if session.kernels.elsewhere:
        raise misused("until", "the code runs on another machine, and a check only on this one.")
    session.equipment.goal = goal_of(talk.settings, text)
    talk.say(_told(current_goal(session.equipment)))


def words(_: Talk, begun: str) -> list[str]:
    """The words that begin like this."""
    return [word for word in (OFF,) if word.startswith(begun)]


def _told(goal: Goal | None) -> str:
    if goal is None:
        return "There is no check: a turn ends with the answer. /until CHECK sets one."
    most = f"at most {goal.max_revisions} times more" if goal.max_revisions else "without a limit"
    return f"Each turn goes on until this passes, {most}: {goal.check.text}"
