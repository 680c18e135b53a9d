"""The limit of calls, which stands still while the person answers."""

import asyncio

import pytest

from terp.tools.mcp.patience import Patience


async def test_a_call_that_takes_too_long_is_ended() -> None:
    never = asyncio.Event()
    with pytest.raises(TimeoutError):
        await Patience(0.01).within(never.wait())


async def test_without_a_limit_a_call_takes_as_long_as_it_does() -> None:
    assert await Patience(0).within(asyncio.sleep(0.01, "done")) == "done"


async def test_time_in_which_the_person_is_asked_does_not_count() -> None:
    patience = Patience(0.05)

    async def call() -> str:
        await patience.paused(asyncio.sleep(0.2))
        return "done"

    assert await patience.within(call()) == "done"


async def test_after_the_question_the_limit_is_there_again() -> None:
    patience, never = Patience(0.05), asyncio.Event()

    async def call() -> None:
        await patience.paused(asyncio.sleep(0))
        await never.wait()

    with pytest.raises(TimeoutError):
        await patience.within(call())


async def test_a_call_that_begins_while_the_person_is_asked_waits_for_them_too() -> None:
    patience, answered = Patience(0.05), asyncio.Event()
    asking = asyncio.create_task(patience.paused(answered.wait()))
    # It has asked once the loop went round.
    await asyncio.sleep(0)
    begun = asyncio.create_task(patience.within(answered.wait()))
    await asyncio.wait({begun}, timeout=0.2)
    answered.set()
    assert (await asking, await begun) == (True, True)
