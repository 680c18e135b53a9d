"""The interface of front ends, and the timer that they share."""

import asyncio
from collections.abc import AsyncIterable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from terp.events import Event


class FrontEnd(Protocol):
    """A front end: it shows a turn to a user or writes it for a program."""

    async def show(self, events: "AsyncIterable[Event]") -> None:
        """Show the events of one turn, to its end."""

    def finish(self, events: "Sequence[Event]", collected: Sequence[Path]) -> None:
        """Handle the end of the turn; `--out` has collected its files."""


@contextmanager
def ticking(tick: Callable[[], None], every_s: float) -> Iterator[None]:
    """Call `tick` every `every_s` seconds until the block is left.

    If it raises, it is not called again, and the loop's exception handler gets the error.
    """
    loop = asyncio.get_running_loop()

    async def run() -> None:
        while True:
            await asyncio.sleep(every_s)
            try:
                tick()
            except Exception as error:  # noqa: BLE001  # it is reported; the turn continues
                loop.call_exception_handler({"message": "A periodic redraw failed.", "exception": error})
                return

    ticker = loop.create_task(run())
    try:
        yield
    finally:
        ticker.cancel()
