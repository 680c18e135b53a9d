"""Turns of a session that are repeated until its check passes, with the output of the check between them."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import count
from pathlib import Path

from terp.checks.until.check_sandbox import CheckSandbox
from terp.checks.until.checking import Checking, Preparing, before_first_turn, not_passed, passed
from terp.checks.until.goal import Goal, current_goal
from terp.errors import TerpError
from terp.events import Event, TurnFinished
from terp.events.error_text import normal
from terp.events.messages import Attachment
from terp.session.attachments import named_files
from terp.session.session import Session


def ask(session: Session, prompt: str, attachments: Sequence[Attachment] = ()) -> AsyncGenerator[Event, None]:
    """Yield the events of a turn with `prompt`, and of more turns until the session's goal is reached.

    Without a goal this is `Session.turn`. Iterate it in the same way, under `contextlib.aclosing`. Files that
    the prompt names are described to the model.
    """
    turn = session.turn(prompt, (*attachments, *_named(session, prompt, attachments)))
    goal = current_goal(session.resources)
    return turn if goal is None else until(session, goal, turn)


def _named(session: Session, prompt: str, attachments: Sequence[Attachment]) -> Sequence[Attachment]:
    resources = session.resources
    if resources.confinement is None or session.kernels.elsewhere:
        return ()
    attached = [attachment.name for attachment in attachments]
    cwd = Path(session.kernels.cwd)
    return named_files(prompt, cwd, resources.confinement.hides, resources.redacted, attached)


async def until(
    session: Session, goal: Goal, turn: AsyncGenerator[Event, None]
) -> AsyncGenerator[Event, None]:
    """Yield the events of `turn`, and of more turns until the check of `goal` passes or the limit is reached.

    `turn` is a turn of the session that has not started. The last event is the only `TurnFinished`: its
    reason is "done" only when the check has passed. The ends of the other turns are only in the session's
    log. A turn that ends with another reason than "done" ends the repetition.
    """
    try:
        sandbox = CheckSandbox(session.kernels)
    except TerpError as error:
        yield _logged(session, _of_error(error))
        return
    preparing = Preparing(goal, sandbox, session.dialog)
    first = goal.originals is None
    async with aclosing(session.play(preparing)) as events:
        async for event in events:
            yield event
    if not preparing.ready:
        yield _logged(session, _not_prepared(session, preparing))
        return
    if first:
        session.note(before_first_turn(goal))
    async with aclosing(_revised(session, goal, sandbox, turn)) as events:
        async for event in events:
            yield event


async def _revised(
    session: Session, goal: Goal, sandbox: CheckSandbox, turn: AsyncGenerator[Event, None]
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
        checking = Checking(goal, sandbox, attempt, left, session.log)
        async with aclosing(session.play(checking)) as events:
            async for event in events:
                yield event
        if checking.result is None or not checking.why or left == 0:
            if not checking.why and (note := passed(checking)):
                session.note(note)
            yield _last(session, checking, end)
            return
        before, failure = failure, (checking.why, normal(checking.result.process.output))
        turn = session.turn(not_passed(checking, again=before == failure))


def _last(session: Session, checking: Checking, end: TurnFinished) -> TurnFinished:
    """Return the end of the repetition, after the last check."""
    if checking.error is not None:
        return _logged(session, _of_error(checking.error, end.answer))
    if checking.result is None:
        return _logged(session, TurnFinished("interrupted", end.answer))
    if not checking.why:
        return end
    tries = "once" if checking.attempt == 1 else f"{checking.attempt} times"
    return _logged(
        session,
        TurnFinished(
            "until_failed",
            end.answer,
            f"The check has not passed, tried {tries}: {checking.goal.check.text}. {checking.why}",
            "Say what to do differently, or raise --max-revisions.",
        ),
    )


def _not_prepared(session: Session, preparing: Preparing) -> TurnFinished:
    if preparing.error is not None:
        return _of_error(preparing.error)
    if preparing.interrupts.requested:
        return TurnFinished("interrupted", "")
    goal = preparing.goal
    session.resources.goal = None
    return TurnFinished(
        "declined",
        "",
        f"The check of {goal.origin} may not run, so the model was not asked: {goal.check.text}",
        "In this session there is no check now; --until '' leaves it out from the start.",
    )


def _of_error(error: TerpError, answer: str = "") -> TurnFinished:
    return TurnFinished(error.stop_reason, answer, error.message, error.remedy)


def _logged(session: Session, end: TurnFinished) -> TurnFinished:
    session.log.append(end)
    return end
