import asyncio
from collections.abc import AsyncGenerator

import pytest

from terp.kernels.jupyter.sockets import Pace, Watch

QUICK = Pace(poll_s=0.001, quick_poll_s=0.001, farewell_s=10.0)
IMPATIENT = Pace(poll_s=0.001, quick_poll_s=0.001, farewell_s=0.01)


class Process:
    """Ends with `code` when it has been asked so often."""

    def __init__(self, asked: int, code: int = 0) -> None:
        self.left = asked
        self.code = code

    async def poll(self) -> int | None:
        self.left -= 1
        return self.code if self.left < 0 else None


@pytest.fixture
async def gone() -> AsyncGenerator[asyncio.Future[str], None]:
    yield asyncio.get_running_loop().create_future()


async def test_the_end_of_a_process_is_noticed(gone: asyncio.Future[str]) -> None:
    watch = Watch(Process(3, -9).poll, gone, QUICK)
    watch.begin()
    async with asyncio.timeout(10):
        assert "SIGKILL" in await gone
    await watch.end()


async def test_an_end_is_awaited_without_having_been_watched(gone: asyncio.Future[str]) -> None:
    await Watch(Process(3).poll, gone, QUICK).until_gone()
    assert "exit code 0" in gone.result()


async def test_a_process_that_does_not_end_is_not_awaited_for_ever(gone: asyncio.Future[str]) -> None:
    watch = Watch(Process(1_000_000).poll, gone, IMPATIENT)
    watch.begin()
    async with asyncio.timeout(10):
        await watch.until_gone()
    assert not gone.done()
    await watch.end()
    await watch.end()


async def test_what_was_told_before_stays(gone: asyncio.Future[str]) -> None:
    gone.set_result("ended by us")
    await Watch(Process(0).poll, gone, QUICK).until_gone()
    assert gone.result() == "ended by us"
