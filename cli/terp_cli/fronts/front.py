"""What shows a session to a person at a terminal: drawn (`TerminalFront`), or said (`SpokenFront`)."""

import asyncio
from collections.abc import AsyncIterable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from terp.events import Event

if TYPE_CHECKING:
    from rich.text import Text


class PersonalFront(Protocol):
    """Shows turns, what happens between them, and lines of terp's own."""

    verbose: bool
    """Whether tracebacks are shown whole. Can be set."""
    asks: bool
    """Whether a person is asked about code, and not just shown it. Can be set."""

    async def show(self, events: AsyncIterable[Event]) -> None:
        """Show the events of one turn, to its end."""

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """The turn is over, and its files were collected with `--out`."""

    def aside(self, event: Event) -> None:
        """Show an event that came outside a turn."""

    def say(self, *lines: str) -> None:
        """Write lines of terp's own; what they quote is made safe."""

    def rows(self, rows: "Sequence[Text]") -> None:
        """Write rows that are safe already."""

    @property
    def folds_code(self) -> bool:
        """True if some of the code that was proposed last is not shown."""

    def whole_code(self) -> None:
        """Show all of the code that was proposed last, however long it is."""

    def asking(self) -> AbstractContextManager[None]:
        """Show all there is, and leave the keyboard to a question."""


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
