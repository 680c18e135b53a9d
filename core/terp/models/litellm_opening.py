"""A request of litellm that can be given up at any moment."""

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any

_LOOKS_AGAIN_S = 0.001


async def opened(litellm: Any, request: Mapping[str, Any], limit_s: float | None) -> Any:
    """The stream of the reply to `request`, once it has begun.

    litellm prepares a request in a thread, whose result is a coroutine; cancelled meanwhile it would drop
    that, and Python complains on stderr about what nobody awaited. So the few milliseconds are waited for.

    Raises:
        TimeoutError: `limit_s` is over.
        Exception: whatever litellm raises.
    """
    opening = asyncio.ensure_future(litellm.acompletion(**request))
    try:
        async with asyncio.timeout(limit_s):
            return await asyncio.shield(opening)
    except BaseException:
        await _given_up(opening)
        raise


async def _given_up(opening: "asyncio.Future[Any]") -> None:
    while not opening.done() and _is_in_thread(opening):
        # The future of the thread is out of reach.
        await asyncio.wait([opening], timeout=_LOOKS_AGAIN_S)
    opening.cancel()
    await asyncio.wait([opening])
    if opening.cancelled() or opening.exception() is not None:
        return
    await opening.result().aclose()


def _is_in_thread(opening: Any) -> bool:
    """Whether `acompletion` itself waits, and not a coroutine that it awaits."""
    innermost = opening.get_coro()
    while inspect.iscoroutine(innermost.cr_await):
        innermost = innermost.cr_await
    return bool(innermost.cr_code.co_name == "acompletion")
