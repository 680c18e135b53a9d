"""Stops a run from outside: as gently as works, and never with its kernel unless that is wanted."""

import asyncio
from collections.abc import Callable

from terp.events import KernelState
from terp.events.outputs import RunStatus
from terp.kernels.jupyter.run import Run
from terp.kernels.jupyter.running import RunningKernel
from terp.kernels.waiting import is_set_within

# An interrupt that has not worked after this long needs a poke (see `RunningKernel.poke`).
_POKE_S = 0.05
# How long the first and the second interrupt are given. After the first, one more ends the kernel.
_PATIENCE_S = (2.0, 3.0)
# Right after an interrupt the code is where it ignores it, and not where it stood.
_SETTLE_S = 0.1
_UNANSWERED = "The code does not answer the interrupt. A second one ends the kernel, with its variables."
_ENDED = "terp ended the kernel, because its code did not stop."


class Stopping:
    """Stops the runs of a kernel, one at a time, whoever asks for it and how often.

    `running` is the life of the kernel that there is now; `tell` tells that a run was interrupted, or that
    its code does not answer.
    """

    def __init__(
        self, running: Callable[[], RunningKernel | None], tell: Callable[[KernelState, str], None]
    ) -> None:
        self._running = running
        self._tell = tell
        self._ladder: asyncio.Task[None] | None = None
        self._climbed: Run | None = None

    @property
    def resisting(self) -> Run | None:
        """The run whose code has not answered an interrupt; its consumer may have left."""
        run = self._climbed
        return run if run is not None and run.resists.is_set() and not run.over.is_set() else None

    async def stop(self, run: Run, status: RunStatus, *, may_kill: bool = False) -> None:
        """Stop a run; returns when it is over, or when its code has not answered for 2 s.

        Then, when this is called again, the kernel is ended; with `may_kill` that needs no second call.
        """
        run.stop(status)
        if not run.message_id or run.over.is_set():
            return
        run.may_be_killed |= may_kill
        if run.resists.is_set() and not run.insisted.done():
            run.insisted.set_result(None)
        if self._ladder is None or self._ladder.done():
            self._climbed, self._ladder = run, asyncio.create_task(self._climb(run))
        if run.may_be_killed or run.insisted.done():
            await asyncio.shield(self._ladder)
        else:
            await is_set_within(None, run.resists, self._ladder)

    async def settled(self) -> None:
        """Wait until nothing is being stopped."""
        if self._ladder is not None:
            await asyncio.wait({self._ladder})

    def tell_interrupted(self, running: RunningKernel, run: Run) -> None:
        """Tell it once, and before anybody hears that the run has ended."""
        if run.stopped and not run.told and not running.gone.done() and self._running() is running:
            run.told = True
            self._tell("interrupted", "")

    async def _climb(self, run: Run) -> None:
        """Interrupt, interrupt again, and end the kernel if that is wanted: until the run is over."""
        running = self._running()
        if running is not None and not await self._has_ended(running, run):
            await is_set_within(_SETTLE_S, run.ended, running.gone)
            run.stack, run.killed = await running.stack(), not running.is_shared
            await running.kill(_ENDED)
        await run.over.wait()
        if running is not None:
            self.tell_interrupted(running, run)

    async def _has_ended(self, running: RunningKernel, run: Run) -> bool:
        """Return True once the code has ended by itself, False if its kernel is to be ended.

        The reply tells the end: output may still be coming for long.
        """
        first, second = _PATIENCE_S
        if await _gentle(running, run, first) or running.gone.done():
            return True
        run.resists.set()
        if not run.may_be_killed:
            self._tell("interrupting", _UNANSWERED)
        if not (await _gentle(running, run, second) or run.may_be_killed):
            await is_set_within(None, run.ended, running.gone, run.insisted)
        return run.ended.is_set() or running.gone.done()


async def _gentle(running: RunningKernel, run: Run, patience_s: float) -> bool:
    """Return True if an interrupt ended the code in time, False also if the kernel is to be ended at once."""
    # As long as ours waits for its turn, an interrupt would hit the code of somebody else.
    if running.is_shared and not await is_set_within(
        patience_s, run.begun, running.gone, run.insisted, run.reply
    ):
        return False
    await running.interrupt()
    if await is_set_within(_POKE_S, run.ended, running.gone, run.insisted):
        return True
    running.poke()
    return await is_set_within(patience_s - _POKE_S, run.ended, running.gone, run.insisted)
