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
        self._task: asyncio.Task[None] | None = None

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do `work`, after what was begun before it."""
        self._task = asyncio.create_task(_after(self._task, work))

    async def next(self, items: AsyncGenerator[T, None]) -> T:
        """The next item, however long the work takes.

        Raises:
            StopAsyncIteration: there is none.
        """
        if self._task is None:
            return await anext(items)
        upcoming = asyncio.ensure_future(anext(items))
        try:
            while not upcoming.done():
                await asyncio.wait(
                    {upcoming, self._task} if self._task else {upcoming},
                    return_when=asyncio.FIRST_COMPLETED,
                )
                self._check()
            return upcoming.result()
        finally:
            await _end(upcoming)

    async def aclose(self) -> None:
        """Take back what was not done. Harmless when repeated."""
        task, self._task = self._task, None
        if task is not None:
            await _end(task)

    def _check(self) -> None:
        if self._task is not None and self._task.done():
            task, self._task = self._task, None
            task.result()


async def _after(earlier: asyncio.Task[None] | None, work: Coroutine[Any, Any, None]) -> None:
    if earlier is not None:
        await asyncio.wait({earlier})
    await work


async def _end(task: asyncio.Future[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
