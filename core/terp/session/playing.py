"""One piece of work at a time, and its events handed to whoever drives it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import Protocol

from terp.events import Event, TurnFinished
from terp.events.bell import Bell
from terp.events.log import EventLog, Record
from terp.session.typed_run import has_left
from terp.text.interrupts import Interrupted, Interrupts

_LAST_WORDS_S = 1.0


class Work(Protocol):
    """What can be played: it logs its events.

    Nothing is played after `TurnFinished`, if it logs one, or after typed code went on in the background.
    """

    interrupts: Interrupts

    async def run(self) -> None:
        """Do all of it."""

    async def stop(self) -> None:
        """End it early; returns when nothing of it runs any more."""


class Playing:
    """What a session is doing now, if it is doing anything."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._work: Work | None = None
        self._task: asyncio.Task[None] | None = None
        self._alone: Interrupts | None = None
        self._pulled = 0
        # Apart from the log: who only follows that is not woken once more for each event.
        self._taken = Bell()

    @property
    def busy(self) -> bool:
        """Whether something goes on."""
        return self._work is not None or self._alone is not None

    def check_free(self) -> None:
        """Nothing, while nothing goes on.

        Raises:
            RuntimeError: something does.
        """
        if self.busy:
            raise RuntimeError("another turn of this session is going on")

    async def play(self, work: Work, after: int) -> AsyncGenerator[Event, None]:
        """The events after number `after` while `work` runs, to its end. Closing this stops it."""
        self._work, self._pulled = work, after
        task = self._task = asyncio.create_task(work.run())
        task.add_done_callback(lambda _: self._log.wake())
        try:
            async with aclosing(self._follow(after, task)) as records:
                async for record in records:
                    yield record.event
                    if isinstance(record.event, TurnFinished) or has_left(record.event):
                        # What a kernel does from here on belongs to no turn; it is in the log.
                        break
            await task
        finally:
            try:
                if not task.done():
                    await work.stop()
                    await asyncio.wait({task}, timeout=_LAST_WORDS_S)
            finally:
                if task.done():
                    self._over(task)
                else:
                    # Stopping it failed, was cancelled, or its code does not answer: it goes on, and the
                    # session is busy until it ends.
                    task.add_done_callback(self._over)

    async def alone(self, doing: Awaitable[None]) -> bool:
        """Do something that has no events of its own; False when it was stopped."""
        interrupts = self._alone = Interrupts()
        try:
            await interrupts.guard(doing)
        except Interrupted:
            return False
        finally:
            self._alone = None
            self._log.wake()
        return True

    async def stop(self) -> None:
        """End what goes on; harmless when nothing does."""
        if self._alone is not None:
            self._alone.stop()
        if self._work is not None:
            await self._work.stop()

    async def idle(self) -> None:
        """Return when nothing goes on."""
        while self.busy:
            await self._log.changed()

    async def last_words(self) -> None:
        """Return when work that was stopped has logged its end, or will not do so soon."""
        if self._task is not None and not self._task.done():
            await asyncio.wait({self._task}, timeout=_LAST_WORDS_S)

    async def drawn(self) -> None:
        """Return when the consumer of the turn has taken, and come back after, all that is logged."""
        number = self._log.last
        while self._work is not None and self._pulled < number:
            await self._taken.rung()

    def _over(self, _: asyncio.Task[None]) -> None:
        self._work = None
        # Whoever waits for this turn, to be drawn or to be over, waits no more.
        self._taken.ring()
        self._log.wake()

    async def _follow(self, after: int, task: asyncio.Task[None]) -> AsyncGenerator[Record, None]:
        while True:
            done = task.done()
            for record in self._log.since(after):
                after = record.number
                yield record
                self._pulled = after
                self._taken.ring()
            if self._log.last > after:
                continue
            if done:
                return
            await self._log.changed()
