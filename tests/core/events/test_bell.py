"""A bell wakes all who wait for it, once."""

import asyncio

from terp.events.bell import Bell


async def test_all_who_wait_are_woken() -> None:
    bell = Bell()
    waiting = [asyncio.create_task(bell.rung()) for _ in range(3)]
    await asyncio.sleep(0)
    bell.ring()
    await asyncio.gather(*waiting)


async def test_who_comes_after_it_was_rung_waits_for_the_next_time() -> None:
    bell = Bell()
    bell.ring()
    waiting = asyncio.create_task(bell.rung())
    await asyncio.sleep(0)
    assert not waiting.done()
    bell.ring()
    await waiting


async def test_nothing_is_left_of_who_waits_no_more() -> None:
    bell = Bell()
    waiting = [asyncio.create_task(bell.rung()) for _ in range(3)]
    await asyncio.sleep(0)
    for one in waiting:
        one.cancel()
    await asyncio.wait(waiting)
    assert bell._waiting == []
