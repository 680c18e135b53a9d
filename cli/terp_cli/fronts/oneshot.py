"""One turn from its prompt to an exit code."""

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from terp.checks.until.goal import current_goal
from terp.checks.until.loop import ask, until
from terp.events import Event, TurnFinished
from terp.events.messages import Attachment
from terp.session.session import Session
from terp_cli.fronts.collect import collect
from terp_cli.line.exit_codes import EXIT_CODES
from terp_cli.line.stopping import TIME_IS_OVER, Stopping

First = Literal["", "go_on", "rerun"]


class Front(Protocol):
    """What shows a turn to a person or a program."""

    async def show(self, events: AsyncIterable[Event]) -> None:
        """Show the events of one turn, to its end."""

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """The turn is over, and its files were collected with `--out`."""


@dataclass(frozen=True)
class Question:
    """What is asked, what goes with it, and where the files of the run are wanted (None: nowhere).

    `first` is what comes before: the turn of a stored session that broke off, or its code again. The prompt
    may be empty then.
    """

    prompt: str
    attachments: tuple[Attachment, ...] = ()
    out: Path | None = None
    first: First = ""

    @property
    def asks(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.prompt.strip() or self.attachments or self.first)


async def one_shot(
    session: Session,
    question: Question,
    front: Front,
    stopping: Stopping,
    last: Callable[[Session], Awaitable[None]] | None = None,
) -> int:
    """Ask, show everything, and tell how it ended as an exit code; the session is closed.

    `last` is done with the session of a turn that ended well.
    """
    with stopping.watching(session.interrupt, session.kernels.aclose):
        try:
            code = await one_turn(session, question, front, stopping)
            if last is not None and code == EXIT_CODES["done"]:
                await last(session)
            return code
        finally:
            await session.aclose()


async def one_turn(session: Session, question: Question, front: Front, stopping: Stopping) -> int:
    """Ask, show everything, and tell how it ended as an exit code."""
    seen: list[Event] = []
    async with aclosing(_turn(session, question, stopping, seen)) as events:
        await front.show(events)
    # Not before the prompt, or the request, is out.
    from terp.session.reply import reply_of  # noqa: PLC0415

    reply = reply_of(seen)
    front.finish(seen, collect(reply.files, question.out) if question.out else [])
    return EXIT_CODES[reply.stop_reason] if stopping.code is None else stopping.code


async def _turn(
    session: Session, question: Question, stopping: Stopping, seen: list[Event]
) -> AsyncGenerator[Event, None]:
    asks = not question.first or bool(question.prompt)
    if question.first:
        async with aclosing(_first(session, question.first, last=not asks)) as events:
            async for event in events:
                seen.append(_told_by(stopping, event) if isinstance(event, TurnFinished) else event)
                # Without its variables what is asked would be answered as if they were there.
                asks = asks and not (isinstance(event, TurnFinished) and event.reason == "approval_needed")
                # The end that is shown is that of what was asked.
                if not (asks and isinstance(event, TurnFinished)):
                    yield seen[-1]
    if asks and stopping.code is None:
        async with aclosing(ask(session, question.prompt, question.attachments)) as events:
            async for event in events:
                seen.append(_told_by(stopping, event) if isinstance(event, TurnFinished) else event)
                yield seen[-1]


def _first(session: Session, first: First, *, last: bool) -> AsyncGenerator[Event, None]:
    if first == "go_on":
        goal, turn = current_goal(session.equipment), session.go_on()
        return turn if goal is None or not last else until(session, goal, turn)
    from terp.session.cells import cells  # noqa: PLC0415  (few sessions are ever run again)

    return session.rerun(cells((record.event for record in session.log.since(0)), session.folder))


def _told_by(stopping: Stopping, end: TurnFinished) -> TurnFinished:
    """The end of a turn, by the name of what interrupted it."""
    if end.reason == "interrupted" and stopping.timed_out:
        return replace(end, reason="timeout", error=TIME_IS_OVER)
    return end
