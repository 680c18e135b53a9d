"""Whether anybody follows a session."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Presence:
    """How many clients follow, and when one was heard of last.

    Nobody is there once no client has followed, or called, for `patience_s` at a stretch.
    """

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._following = 0
        self._heard = asyncio.Event()
        self._left = asyncio.Event()
        self._left.set()

    @property
    def following(self) -> int:
        """How many clients follow now."""
        return self._following

    def heard(self) -> None:
        """A client called."""
        self._heard.set()

    @contextmanager
    def follows(self) -> Iterator[None]:
        """A client follows while the block lasts."""
        self._following += 1
        self._left.clear()
        self._heard.set()
        try:
            yield
        finally:
            self._following -= 1
            if not self._following:
                self._left.set()

    async def gone(self) -> None:
        """Return when nobody is there."""
        while True:
            await self._left.wait()
            self._heard.clear()
            try:
                async with asyncio.timeout(self._patience_s):
                    await self._heard.wait()
            except TimeoutError:
                return
