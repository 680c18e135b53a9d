"""Work beside a generator: nothing that it raises is lost, and nothing of it is left behind."""

import asyncio
import inspect
from collections.abc import AsyncGenerator

import pytest

from terp.session.runs import Interleaver


async def endless() -> AsyncGenerator[int, None]:
    yield 1
    await asyncio.Event().wait()


async def fail() -> None:
    raise LookupError("gone")


async def nothing() -> None:
    return


async def test_what_earlier_work_raises_is_raised_when_more_was_begun_after_it() -> None:
    items, beside = endless(), Interleaver()
    await anext(items)
    beside.begin(fail())
    beside.begin(nothing())
    with pytest.raises(LookupError):
        await asyncio.wait_for(beside.next(items), 5)
    await items.aclose()


async def test_taking_back_ends_also_what_was_begun_first() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def ask() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    beside = Interleaver()
    beside.begin(ask())
    await begun.wait()
    beside.begin(nothing())
    await beside.aclose()
    assert ended.is_set()


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
async def test_work_that_never_began_leaves_no_warning() -> None:
    beside, work = Interleaver(), nothing()
    beside.begin(work)
    await beside.aclose()
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED
