"""Asking the model of a session once: within its conversation, or beside it."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from terp.checks.solve import prompts
from terp.errors import BudgetSpent, StopReason, TerpError
from terp.events import Event, TurnFinished
from terp.events.messages import Assistant
from terp.session.session import Session
from terp.text.interrupts import Interrupted, Interrupts

T = TypeVar("T")
Show = Callable[[Event], None]


class Ended(TerpError):
    """A turn, or other work of the session, did not come to its end; it can be gone on with."""

    def __init__(self, reason: StopReason, message: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.stop_reason: StopReason = reason


def prepare(session: Session) -> None:
    """Let a session solve: each turn is one reply, and no code of it runs in a kernel."""
    session.brief(prompts.SYSTEM, code=False)
    session.limits = replace(session.limits, max_steps=1)


def forget_unanswered(session: Session) -> None:
    """Take back a prompt that was never answered: its step is done again, or left."""
    last = session.history[session.turns[-1].at :] if session.turns else ()
    if last and not any(isinstance(message, Assistant) for message in last):
        session.past.undo()


async def asked(session: Session, prompt: str, show: Show) -> Assistant:
    """The reply to the next prompt of the conversation.

    Raises:
        Ended: there is none.
    """
    end: TurnFinished | None = None
    async with aclosing(session.turn(prompt)) as events:
        async for event in events:
            show(event)
            end = event if isinstance(event, TurnFinished) else end
    replies = [message for message in session.history if isinstance(message, Assistant)]
    # A reply that calls a tool is one step of a turn that would go on.
    if (
        end is not None
        and replies
        and (end.reason == "done" or (end.reason == "max_steps" and replies[-1].calls))
    ):
        return replies[-1]
    assert end is not None, "a turn ends with its end"
    raise Ended(end.reason, end.error, end.remedy)


async def asked_beside(session: Session, prompt: str, show: Show) -> Assistant:
    """The reply to a prompt that knows nothing of the conversation.

    Raises:
        Ended: it was interrupted, or the session may cost no more.
        ModelError: there is none.
    """
    try:
        return await played(session, session.beside(prompt), show)
    except BudgetSpent as spent:
        raise Ended(spent.stop_reason, spent.message, spent.remedy) from spent


async def played(session: Session, doing: Awaitable[T], show: Show) -> T:
    """What `doing` gives, which the person can interrupt as they can a turn.

    Raises:
        Ended: they did.
    """
    work = _Doing(doing)
    async with aclosing(session.play(work)) as events:
        async for event in events:
            show(event)
    if work.error is not None:
        raise work.error
    if not work.results:
        raise Ended("interrupted")
    return work.results[0]


@dataclass(slots=True)
class _Doing(Generic[T]):
    """Work that is one awaitable."""

    doing: Awaitable[T]
    interrupts: Interrupts = field(default_factory=Interrupts)
    results: list[T] = field(default_factory=list)
    error: TerpError | None = None

    async def run(self) -> None:
        """Await it."""
        try:
            self.results.append(await self.interrupts.guard(self.doing))
        except Interrupted:
            return
        except TerpError as error:
            self.error = error

    async def stop(self) -> None:
        """Cancel it."""
        self.interrupts.stop()
