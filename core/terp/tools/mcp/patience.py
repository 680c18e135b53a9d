"""How long calls of a server may take."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class Patience:
    """A limit in seconds (0: none) for each call; it stands still while the person answers the server."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self._running: set[asyncio.Timeout] = set()
        self._questions = 0

    async def within(self, call: Awaitable[T]) -> T:
        """What a call gives.

        Raises:
            TimeoutError: it took too long.
        """
        async with asyncio.timeout(None if self._questions else self.limit_s or None) as limit:
            self._running.add(limit)
            try:
                return await call
            finally:
                self._running.discard(limit)

    async def paused(self, question: Awaitable[T]) -> T:
        """What the person answers. After the last open question all calls have their whole time again."""
        self._questions += 1
        self._move(None)
        try:
            return await question
        finally:
            self._questions -= 1
            if not self._questions and self.limit_s:
                self._move(asyncio.get_running_loop().time() + self.limit_s)

    def _move(self, when: float | None) -> None:
        for limit in self._running:
            # One that ran out this moment moves no more.
            with suppress(RuntimeError):
                limit.reschedule(when)
