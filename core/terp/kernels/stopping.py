"""How a run is stopped from outside: as gently as works."""

import asyncio
from collections.abc import Callable

from terp.kernels.run import Run
from terp.kernels.running import RunningKernel
from terp.kernels.waiting import is_set_within
from terp.outputs import RunStatus

# An interrupt that has not worked after this long needs a poke (see `RunningKernel.poke`).
_POKE_S = 0.05
# How long the first and the second interrupt are given before the kernel is killed.
_PATIENCE_S = (2.0, 3.0)


class Stopping:
    """Stops the runs of a kernel, one at a time, whoever asks for it and how often.

    `running` is the life of the kernel that there is now; `tell` tells that a run was interrupted.
    """

    def __init__(self, running: Callable[[], RunningKernel | None], tell: Callable[[], None]) -> None:
        self._running = running
        self._tell = tell
        self._ladder: asyncio.Task[None] | None = None

    async def stop(self, run: Run, status: RunStatus) -> None:
        """Stop a run; returns when it is over."""
        run.stop(status)
        if not run.message_id or run.over.is_set():
            return
        if self._ladder is None or self._ladder.done():
            self._ladder = asyncio.create_task(self._climb(run))
        await asyncio.shield(self._ladder)

    async def settled(self) -> None:
        """Wait until nothing is being stopped."""
        if self._ladder is not None:
            await asyncio.wait({self._ladder})

    def tell_interrupted(self, running: RunningKernel, run: Run) -> None:
        """Tell it once, and before anybody hears that the run has ended."""
        if run.stopped and not run.told and not running.gone.done() and self._running() is running:
            run.told = True
            self._tell()

    async def _climb(self, run: Run) -> None:
        """Interrupt, interrupt again, kill: until the run is over."""
        running = self._running()
        if running is not None and not await _gentle(running, run):
            run.stack, run.killed = await running.stack(), True
            await running.kill()
        await run.over.wait()
        if running is not None:
            self.tell_interrupted(running, run)


async def _gentle(running: RunningKernel, run: Run) -> bool:
    """Whether the code ended by interrupts. Its reply tells: output may still be coming for long."""
    for patience in _PATIENCE_S:
        await running.interrupt()
        if await is_set_within(_POKE_S, run.ended, running.gone):
            return True
        running.poke()
        if await is_set_within(patience - _POKE_S, run.ended, running.gone):
            return True
    return False
