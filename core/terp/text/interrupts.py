"""Waiting that a person can end."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")


class Interrupted(Exception):
    """The person stopped what was waited for."""


class Interrupts:
    """Guards the waits of one turn; `stop` ends the current one, and every later one at once."""

    def __init__(self) -> None:
        self.requested = False
        self._waiting: set[asyncio.Future[Any]] = set()

    async def guard(self, awaitable: Awaitable[T]) -> T:
        """What `awaitable` gives. It runs as a task of its own, which `stop` cancels.

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
        # Also what came at the very moment of `stop` is not to be acted on any more.
        if task.cancelled() or (self.requested and not task.exception()):
            raise Interrupted
        return task.result()

    def stop(self) -> None:
        """End what is waited for."""
        self.requested = True
        for task in self._waiting:
            task.cancel()
