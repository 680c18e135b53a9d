"""Of what goes on side by side, the first to end ends the rest."""

import asyncio

import pytest

from terp_cli.server.following import until_one_ends


class Going:
    """Goes on until it is ended, and says whether it was."""

    def __init__(self) -> None:
        self.ended = False

    async def on(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


async def ends() -> None:
    await asyncio.sleep(0)


async def fails(why: str) -> None:
    await asyncio.sleep(0)
    raise OSError(why)


async def test_the_first_to_end_ends_the_others() -> None:
    one, other = Going(), Going()
    await until_one_ends(one.on(), ends(), other.on())
    assert (one.ended, other.ended) == (True, True)


async def test_what_one_raises_is_raised_once_the_others_have_ended() -> None:
    other = Going()
    with pytest.raises(OSError, match="why not"):
        await until_one_ends(other.on(), fails("why not"))
    assert other.ended


async def test_of_two_that_fail_the_first_named_is_told() -> None:
    with pytest.raises(OSError, match="first"):
        await until_one_ends(fails("first"), fails("second"))


async def test_who_is_cancelled_ends_all() -> None:
    one, other = Going(), Going()
    together = asyncio.create_task(until_one_ends(one.on(), other.on()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    together.cancel()
    await asyncio.wait({together})
    assert (together.cancelled(), one.ended, other.ended) == (True, True, True)
