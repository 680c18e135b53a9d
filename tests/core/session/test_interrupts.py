"""Waiting that a person can end."""

import asyncio

import pytest

from terp.session.foreground import Interrupted, Interrupts


async def test_what_is_waited_for_is_given() -> None:
    async def seven() -> int:
        return 7

    assert await Interrupts().guard(seven()) == 7


async def test_a_stop_cancels_what_is_waited_for() -> None:
    interrupts, begun = Interrupts(), asyncio.Event()

    async def forever() -> None:
        begun.set()
        await asyncio.Event().wait()

    waiting = asyncio.create_task(interrupts.guard(forever()))
    await begun.wait()
    interrupts.stop()
    with pytest.raises(Interrupted):
        await waiting


async def test_a_stop_counts_also_when_the_answer_came_at_the_same_moment() -> None:
    interrupts = Interrupts()

    async def answered() -> str:
        # Called when this has returned, and before who waits for it goes on.
        asyncio.get_running_loop().call_soon(interrupts.stop)
        return "run it"

    with pytest.raises(Interrupted):
        await interrupts.guard(answered())


async def test_a_failure_is_told_even_when_it_was_stopped() -> None:
    interrupts = Interrupts()

    async def failed() -> None:
        asyncio.get_running_loop().call_soon(interrupts.stop)
        raise KeyError("reason")

    with pytest.raises(KeyError):
        await interrupts.guard(failed())
