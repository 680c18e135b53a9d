"""What wakes all who wait for it."""

import asyncio
from contextlib import suppress


class Bell:
    """Rung when something has changed: who waits then looks for what it was."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    def ring(self) -> None:
        """Wake everyone who waits."""
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def rung(self) -> None:
        """Return after the next `ring`."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            # It may never be rung again, and would hold the future for ever.
            with suppress(ValueError):
                self._waiting.remove(future)
            raise
