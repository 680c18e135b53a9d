import asyncio
from typing import Any

import pytest

from terp_cli.fronts.front_end import ticking


async def told(tick: Any, until: asyncio.Event) -> list[Any]:
    """The errors that the loop's exception handler is told of."""
    errors: list[Any] = []
    loop = asyncio.get_running_loop()

    def note(_: object, context: dict[str, Any]) -> None:
        errors.append(context["exception"])
        until.set()

    loop.set_exception_handler(note)
    with ticking(tick, 0.001):
        await asyncio.wait_for(until.wait(), 20)
    return errors


async def test_a_tick_comes_again_until_the_block_is_left() -> None:
    ticks: list[int] = []
    thrice = asyncio.Event()

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 3:
            thrice.set()

    assert (await told(tick, thrice), ticks) == ([], [1, 1, 1])


async def test_a_tick_that_fails_is_told_once() -> None:
    error = LookupError("a bug")

    def tick() -> None:
        raise error

    assert await told(tick, asyncio.Event()) == [error]


async def test_an_error_of_the_block_itself_is_not_held_back() -> None:
    with pytest.raises(LookupError), ticking(lambda: None, 0.001):
        raise LookupError
