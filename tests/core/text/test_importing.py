import asyncio
import threading

import pytest

from terp.text.importing import in_daemon


def test_the_end_of_the_loop_does_not_wait_for_the_thread() -> None:
    begun, goes_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        goes_on.wait(20)
        ended.set()

    async def leave_early() -> None:
        task = asyncio.create_task(in_daemon(work))
        await asyncio.to_thread(begun.wait)
        task.cancel()

    asyncio.run(leave_early())
    assert not ended.is_set()
    goes_on.set()


async def test_what_the_thread_makes_or_raises_comes_back() -> None:
    assert await in_daemon(lambda: 42) == 42
    with pytest.raises(ZeroDivisionError):
        await in_daemon(lambda: 1 / 0)
