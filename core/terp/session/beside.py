"""A question that a run waits for, asked while the items of the run go on."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Beside:
    """Work beside a generator: what it raises is raised by the next `next`, and `aclose` takes it back.

    A kernel that dies while its code waits for a line thus ends the run, and the question with it.
    """

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do `work`, after what was begun before it."""
        task = asyncio.create_task(_after(self._tasks[-1] if self._tasks else None, work))
        # It may be taken back before it has begun.
        task.add_done_callback(lambda _: work.close())
        self._tasks.append(task)

    async def next(self, items: AsyncGenerator[T, None]) -> T:
        """The next item, however long the work takes.

        Raises:
            StopAsyncIteration: there is none.
        """
        if not self._tasks:
            return await anext(items)
        upcoming = asyncio.ensure_future(anext(items))
        try:
            while not upcoming.done():
                await asyncio.wait({upcoming, *self._tasks}, return_when=asyncio.FIRST_COMPLETED)
                self._check()
            return upcoming.result()
        finally:
            await _end(upcoming)

    async def aclose(self) -> None:
        """Take back what was not done. Harmless when repeated."""
        tasks, self._tasks = self._tasks, []
        # The last one first: the end of one lets the next begin.
        for task in reversed(tasks):
            await _end(task)

    def _check(self) -> None:
        while self._tasks and self._tasks[0].done():
            self._tasks.pop(0).result()


async def _after(earlier: asyncio.Task[None] | None, work: Coroutine[Any, Any, None]) -> None:
    if earlier is not None:
        await asyncio.wait({earlier})
    await work


async def _end(task: asyncio.Future[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
