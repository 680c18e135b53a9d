"""A notifier wakes all who wait for it, once."""

import asyncio

from terp.events.log import Notifier


async def test_all_who_wait_are_woken() -> None:
    notifier = Notifier()
    waiting = [asyncio.create_task(notifier.wait()) for _ in range(3)]
    await asyncio.sleep(0)
    notifier.notify()
    done, _ = await asyncio.wait(waiting, timeout=5)
    assert done == {*waiting}


async def test_who_comes_after_a_change_waits_for_the_next() -> None:
    notifier = Notifier()
    notifier.notify()
    waiting = asyncio.create_task(notifier.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    notifier.notify()
    await waiting


async def test_nothing_is_left_of_who_waits_no_more() -> None:
    notifier = Notifier()
    waiting = [asyncio.create_task(notifier.wait()) for _ in range(3)]
    await asyncio.sleep(0)
    for one in waiting:
        one.cancel()
    await asyncio.wait(waiting)
    assert notifier._waiting == []
