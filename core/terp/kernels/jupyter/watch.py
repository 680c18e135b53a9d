"""Asking for the end of a kernel's process: iopub is silent after a crash."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from terp.kernels.jupyter.endings import end_of


@dataclass(frozen=True)
class Pace:
    """How often the process is asked, in seconds: always, and while its end is awaited; and for how long."""

    poll_s: float
    quick_poll_s: float
    farewell_s: float


class Watch:
    """Asks `poll` for the exit code of a process until there is one; `gone` then tells how it ended."""

    def __init__(
        self, poll: Callable[[], Awaitable[int | None]], gone: asyncio.Future[str], pace: Pace
    ) -> None:
        self._poll = poll
        self._gone = gone
        self._pace = pace
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Ask from now on."""
        self._task = asyncio.create_task(self._ask())

    async def until_gone(self) -> None:
        """Wait for the end of the process, as long as a farewell may take."""
        deadline = time.monotonic() + self._pace.farewell_s
        while not await self._look() and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(self._pace.quick_poll_s)

    async def end(self) -> None:
        """Ask no more. Harmless when repeated."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _ask(self) -> None:
        while not await self._look():  # noqa: ASYNC110
            await asyncio.sleep(self._pace.poll_s)

    async def _look(self) -> bool:
        """Whether the process is gone."""
        code = await self._poll()
        if code is not None and not self._gone.done():
            self._gone.set_result(end_of(code))
        return code is not None
