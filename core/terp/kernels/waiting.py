"""Short forms for waiting on several asyncio futures and events."""

import asyncio
from typing import Any


async def first_of(*futures: asyncio.Future[Any], timeout_s: float | None = None) -> None:
    """Return when one of `futures` is done or the time is up. Cancels none of them."""
    await asyncio.wait(futures, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)


async def is_set_within(seconds: float | None, event: asyncio.Event, *until: asyncio.Future[Any]) -> bool:
    """Return True if `event` is set within `seconds`, before one of `until` is done."""
    if event.is_set():
        return True
    wait = asyncio.create_task(event.wait())
    try:
        await first_of(wait, *until, timeout_s=seconds)
    finally:
        wait.cancel()
    return event.is_set()
