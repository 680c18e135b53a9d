"""What a signal does to something that runs."""

import asyncio
import os
import signal

from terp_cli.line.stopping import Stopping


async def test_sigterm_gives_an_interrupt_time_before_it_kills() -> None:
    done: list[str] = []
    killed = asyncio.Event()

    async def interrupt() -> None:
        await asyncio.sleep(0)
        done.append("interrupted")

    async def kill() -> None:
        done.append("killed")
        killed.set()

    stopping = Stopping()
    with stopping.armed(0.0), stopping.watching(interrupt, kill):
        os.kill(os.getpid(), signal.SIGTERM)
        async with asyncio.timeout(10):
            await killed.wait()
    assert (done, stopping.code) == (["interrupted", "killed"], 143)
