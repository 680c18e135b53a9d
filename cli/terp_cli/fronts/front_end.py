"""The interfaces of front ends, and the timer that they share."""

import asyncio
from collections.abc import AsyncIterable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.text import Text

    from terp.events import Event


class FrontEnd(Protocol):
    """A front end: it shows a turn to a user or writes it for a program."""

    async def show(self, events: "AsyncIterable[Event]") -> None:
        """Show the events of one turn, to its end."""

    def finish(self, events: "Sequence[Event]", collected: Sequence[Path]) -> None:
        """Handle the end of the turn; `--out` has collected its files."""


class InteractiveFrontEnd(Protocol):
    """A front end at a terminal: drawn (`TerminalFront`), or for a screen reader (`SpokenFront`).

    It shows turns, events between them, and lines of terp.
    """

    verbose: bool
    """True if tracebacks are shown whole. Can be set."""
    asks: bool
    """True if code needs the user's approval. Can be set."""

    async def show(self, events: "AsyncIterable[Event]") -> None:
        """Show the events of one turn, to its end."""

    def finish(self, events: "Sequence[Event]", collected: Sequence[Path]) -> None:
        """Handle the end of the turn; `--out` has collected its files."""

    def aside(self, event: "Event") -> None:
        """Show an event from outside a turn."""

    def say(self, *lines: str) -> None:
        """Write lines of terp; control characters are spelled out."""

    def rows(self, rows: "Sequence[Text]") -> None:
        """Write rows without control characters."""

    @property
    def folds_code(self) -> bool:
        """True if some of the code that was proposed last is not shown."""

    def whole_code(self) -> None:
        """Show all of the code that was proposed last, however long it is."""

    def asking(self) -> AbstractContextManager[None]:
        """Show all events so far, and leave the keyboard to a question."""


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
