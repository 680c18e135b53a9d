"""The task that a session works on: one at a time, its events, and its interrupts."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

from terp.errors import SessionError
from terp.events import Event
from terp.events.log import EventLog, Notifier, Record, is_delta
from terp.text.dataclasses import dataclass, field

T = TypeVar("T")
_END_WAIT_S = 1.0


class Interrupted(Exception):
    """The user stopped the awaited operation."""


class Interrupts:
    """Guards the waits of one task; `stop` ends the current wait, and every later one at once."""

    def __init__(self) -> None:
        self.requested = False
        self._waiting: set[asyncio.Future[Any]] = set()

    async def guard(self, awaitable: Awaitable[T]) -> T:
        """Return the result of `awaitable`, run as an asyncio task that `stop` cancels.

        Raises:
            Interrupted: `stop` was called, before or meanwhile.
        """
        task = asyncio.ensure_future(awaitable)
        if self.requested:
            task.cancel()
        self._waiting.add(task)
        try:
            await asyncio.wait({task})
        finally:
            self._waiting.discard(task)
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        # A result that came at the very moment of `stop` must not be used either.
        if task.cancelled() or (self.requested and not task.exception()):
            raise Interrupted
        return task.result()

    def stop(self) -> None:
        """End the current wait."""
        self.requested = True
        for task in self._waiting:
            task.cancel()


@dataclass(slots=True, kw_only=True)
class Task(ABC):
    """Work that a session does in the foreground: a turn, typed code, a check. It logs its events."""

    interrupts: Interrupts = field(default_factory=Interrupts)

    @abstractmethod
    async def run(self) -> None:
        """Do all of the work."""

    async def stop(self) -> None:
        """End the work early; return when nothing of it runs any more."""
        self.interrupts.stop()

    def ends_with(self, event: Event) -> bool:
        """Return True for the last event of the task, if it has one: later events belong to the log only."""
        return False


class Foreground:
    """Runs one task at a time and yields its events to the consumer that pulls them."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._task: Task | None = None
        self._running: asyncio.Task[None] | None = None
        self._silent: Interrupts | None = None
        # Called after each task, before its consumer gets the end of the events.
        self.afterwards: Callable[[], Awaitable[None]] | None = None
        # If False, `play` yields no deltas of the model, and does not wake its consumer for them.
        self.yields_deltas = True
        self._pulled = 0
        self._is_over = False
        # Apart from the log: readers of the log are not woken once more for each event.
        self._pulling = Notifier()

    @property
    def busy(self) -> bool:
        """True while a task runs."""
        return self._task is not None or self._silent is not None

    def check_idle(self) -> None:
        """Raise unless the session is idle.

        Raises:
            RuntimeError: a task runs.
            SessionError: the session is closed.
        """
        if self._is_over:
            raise SessionError("This session is closed.", "Open another one.")
        if self.busy:
            raise RuntimeError("another turn of this session is going on")

    async def play(self, task: Task, after: int) -> AsyncGenerator[Event, None]:
        """Run `task` and yield its events, those after number `after`. Closing the generator stops it."""
        self._task, self._pulled = task, after
        running = self._running = asyncio.create_task(task.run())
        running.add_done_callback(lambda _: self._log.wake())
        try:
            async with aclosing(self._follow(after, running)) as records:
                async for record in records:
                    yield record.event
                    if task.ends_with(record.event):
                        break
            await running
        finally:
            try:
                if not running.done():
                    await task.stop()
                    await asyncio.wait({running}, timeout=_END_WAIT_S)
            finally:
                if running.done():
                    self._ended(running)
                else:
                    # Stopping failed, was cancelled, or the code does not answer: the session stays busy
                    # until the task ends.
                    running.add_done_callback(self._ended)
        if self.afterwards is not None and not self.busy:
            await self.afterwards()

    async def run_silently(self, work: Awaitable[None]) -> bool:
        """Do work that logs no events of its own; return False if it was stopped."""
        interrupts = self._silent = Interrupts()
        try:
            await interrupts.guard(work)
        except Interrupted:
            return False
        finally:
            self._silent = None
            self._log.wake()
        return True

    async def stop(self) -> None:
        """Stop the task. Harmless if there is none."""
        if self._silent is not None:
            self._silent.stop()
        if self._task is not None:
            await self._task.stop()

    async def idle(self) -> None:
        """Return when no task runs."""
        while self.busy:
            await self._log.changed(deltas=False)

    async def ending(self) -> None:
        """Wait up to a second until a stopped task has logged its end; no other one can begin."""
        self._is_over = True
        if self._running is not None and not self._running.done():
            await asyncio.wait({self._running}, timeout=_END_WAIT_S)

    async def drawn(self) -> None:
        """Return when the consumer has pulled all that is logged now, and has come back for more."""
        number = self._log.last
        if not self.yields_deltas:
            # The consumer has not been woken for the last of them.
            self._log.wake()
        while self._task is not None and self._pulled < number:
            await self._pulling.wait()

    def _ended(self, _: asyncio.Task[None]) -> None:
        self._task = None
        # Whoever waits until this task is drawn or has ended waits no longer.
        self._pulling.notify()
        self._log.wake()

    async def _follow(self, after: int, running: asyncio.Task[None]) -> AsyncGenerator[Record, None]:
        while True:
            for record in self._log.since(after):
                after = record.number
                if self.yields_deltas or not is_delta(record.event):
                    yield record
                self._pulled = after
                self._pulling.notify()
            if self._log.last > after:
                continue
            if running.done():
                return
            await self._log.changed(deltas=self.yields_deltas)
