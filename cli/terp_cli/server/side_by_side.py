"""What goes on at the same time for one client, such as sending and taking."""

import asyncio
from collections.abc import Coroutine


async def until_one_ends(*doings: Coroutine[None, None, None]) -> None:
    """Return when the first of them has ended; the others are ended with it, and so are all when cancelled.

    Raises:
        Exception: what one of them has raised; of several, the one that was named first.
    """
    tasks = [asyncio.ensure_future(doing) for doing in doings]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    # Each is asked, or what another raised would be reported as never retrieved.
    errors = [error for task in tasks if not task.cancelled() and (error := task.exception())]
    if errors:
        raise errors[0]
