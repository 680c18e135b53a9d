"""When a run is over: its reply and all of its output have come, or its kernel is gone."""

import asyncio

from terp.kernels.jupyter.run import Run
from terp.kernels.jupyter.running import RunningKernel
from terp.kernels.waiting import first_of, is_set_within

# After the reply, this much silence means that no more output comes.
_IDLE_GRACE_S = 4.0
# After `idle` the reply, on another channel, has this long to arrive.
_REPLY_GRACE_S = 0.5
# After a death this long for what is still on its way through the sockets.
_LAST_OUTPUT_S = 0.05


async def until_settled(running: RunningKernel, run: Run) -> None:
    """Wait until nothing more comes of a run."""
    await _until_ended(running, run)
    if run.reply.done():
        await _until_idle(running, run)
        await running.catch_up()
    elif running.gone.done():
        await asyncio.sleep(_LAST_OUTPUT_S)
    run.finish_output()


async def _until_ended(running: RunningKernel, run: Run) -> None:
    """Wait for the reply, or for the end without one.

    ipykernel drops the reply, but not `idle`, when an interrupt hits its own code.
    """
    while not (run.ended.is_set() or running.gone.done()):
        idle = asyncio.create_task(run.idle.wait())
        await first_of(run.reply, running.gone, idle)
        idle.cancel()
        # Code that is sent again is not idle any more.
        if not await is_set_within(_REPLY_GRACE_S, run.ended, running.gone) and run.idle.is_set():
            run.ended.set()


async def _until_idle(running: RunningKernel, run: Run) -> None:
    """Wait for the rest of the output; `idle` may be lost, so silence is an end too."""
    while not run.idle.is_set() and not running.gone.done():
        before = run.messages
        await is_set_within(_IDLE_GRACE_S, run.idle, running.gone)
        if run.messages == before:
            return
