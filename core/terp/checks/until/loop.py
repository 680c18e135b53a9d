"""Asking until a check has passed: turns of a session, with what the check has put out between them."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import count
from pathlib import Path

from terp.checks.until.check_sandbox import CheckSandbox
from terp.checks.until.checking import Checking, Preparing, before_first_turn, not_passed, passed
from terp.checks.until.goal import Goal, current_goal
from terp.errors import TerpError
from terp.events import Event, TurnFinished
from terp.events.messages import Attachment
from terp.events.sameness import normal
from terp.session.attachments import named_files
from terp.session.session import Session


def ask(session: Session, prompt: str, attachments: Sequence[Attachment] = ()) -> AsyncGenerator[Event, None]:
    """Everything that happens until the model has answered `prompt`, and the session's goal is reached.

    Without a goal it is `Session.turn`. Iterate it like that, under `contextlib.aclosing`. The files that the
    prompt names are described to the model.
    """
    turn = session.turn(prompt, (*attachments, *_named(session, prompt, attachments)))
    goal = current_goal(session.equipment)
    return turn if goal is None else until(session, goal, turn)


def _named(session: Session, prompt: str, attachments: Sequence[Attachment]) -> Sequence[Attachment]:
    equipment = session.equipment
    if equipment.confinement is None or session.kernels.elsewhere:
        return ()
    attached = [attachment.name for attachment in attachments]
    cwd = Path(session.kernels.cwd)
    return named_files(prompt, cwd, equipment.confinement.hides, equipment.without_secrets, attached)


async def until(
    session: Session, goal: Goal, turn: AsyncGenerator[Event, None]
) -> AsyncGenerator[Event, None]:
    """Everything that happens until the check of `goal` has passed, or the model is not asked any more.

    `turn` is one of the session that has not begun: what is asked. All ends with one `TurnFinished`, "done"
    only when the check has passed. The end of each turn in between is in the session's log alone. A turn that
    ends in any other way than "done" ends all of it.
    """
    try:
        ground = CheckSandbox(session.kernels)
    except TerpError as error:
        yield _over(session, TurnFinished(error.stop_reason, "", error.message, error.remedy))
        return
    preparing = Preparing(goal, ground, session.voice)
    first = goal.originals is None
    async with aclosing(session.play(preparing)) as events:
        async for event in events:
            yield event
    if not preparing.ready:
        yield _over(session, _not_begun(session, preparing))
        return
    if first:
        session.teach(before_first_turn(goal))
    async with aclosing(_revised(session, goal, ground, turn)) as events:
        async for event in events:
            yield event


async def _revised(
    session: Session, goal: Goal, ground: CheckSandbox, turn: AsyncGenerator[Event, None]
) -> AsyncGenerator[Event, None]:
    failure: tuple[str, str] | None = None
    for attempt in count(1):
        end = None
        async with aclosing(turn) as events:
            async for event in events:
                if isinstance(event, TurnFinished):
                    end = event
                else:
                    yield event
        if end is None or end.reason != "done":
            if end is not None:
                yield end
            return
        left = goal.max_revisions - attempt + 1 if goal.max_revisions else None
        checking = Checking(goal, ground, attempt, left, session.log)
        async with aclosing(session.play(checking)) as events:
            async for event in events:
                yield event
        if checking.ran is None or not checking.why or left == 0:
            if not checking.why and (told := passed(checking)):
                session.teach(told)
            yield _last(session, checking, end)
            return
        before, failure = failure, (checking.why, normal(checking.ran.ended.output))
        again = before == failure
        turn = session.turn(not_passed(checking, again=again))


def _last(session: Session, checking: Checking, end: TurnFinished) -> TurnFinished:
    """How all of it ended, after the last check."""
    if checking.error is not None:
        error = checking.error
        return _over(session, TurnFinished(error.stop_reason, end.answer, error.message, error.remedy))
    if checking.ran is None:
        return _over(session, TurnFinished("interrupted", end.answer))
    if not checking.why:
        return end
    tries = "once" if checking.attempt == 1 else f"{checking.attempt} times"
    return _over(
        session,
        TurnFinished(
            "until_failed",
            end.answer,
            f"The check has not passed, tried {tries}: {checking.goal.check.text}. {checking.why}",
            "Say what to do differently, or raise --max-revisions.",
        ),
    )


def _not_begun(session: Session, preparing: Preparing) -> TurnFinished:
    if preparing.error is not None:
        error = preparing.error
        return TurnFinished(error.stop_reason, "", error.message, error.remedy)
    if preparing.interrupts.requested:
        return TurnFinished("interrupted", "")
    goal = preparing.goal
    session.equipment.goal = None
    return TurnFinished(
        "declined",
        "",
        f"The check of {goal.origin} may not run, so nothing was asked: {goal.check.text}",
        "In this session there is no check now; --until '' leaves it out from the start.",
    )


def _over(session: Session, end: TurnFinished) -> TurnFinished:
    session.log.append(end)
    return end
