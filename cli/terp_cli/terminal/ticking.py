"""What is done again and again while something goes on."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def ticking(tick: Callable[[], None], every_s: float) -> Iterator[None]:
    """Call `tick` every so many seconds until the block is left.

    One that fails is the last; the loop's exception handler is told of it at once.
    """
    loop = asyncio.get_running_loop()

    async def run() -> None:
        while True:
            await asyncio.sleep(every_s)
            try:
                tick()
            except Exception as error:  # noqa: BLE001  # it is told, and what goes on is not ended by it
                told = "What is drawn from time to time failed."
                loop.call_exception_handler({"message": told, "exception": error})
                return

    ticker = loop.create_task(run())
    try:
        yield
    finally:
        ticker.cancel()
