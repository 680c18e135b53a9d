"""The base of the front ends at a terminal: drawn (`TerminalFront`), or spoken (`SpokenFront`)."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from terp.events import Event, Progress
from terp_cli.fronts.event_order import JobsAside
from terp_cli.fronts.front_end import ticking
from terp_cli.terminal import tty

if TYPE_CHECKING:
    from rich.text import Text


class InteractiveFront(ABC):
    """A front end at a terminal. It shows turns, events between them, and lines of terp.

    While a turn is shown and no question is open, the terminal echoes no keys.
    """

    frame_s = 1.0
    """Seconds between two calls of `tick` during a turn."""

    def __init__(self, keyboard: int | None, *, verbose: bool) -> None:
        """Take the terminal's descriptor as `keyboard`; None if a `PromptApp` reads it during turns."""
        self.verbose = verbose
        """True if tracebacks are shown whole. Can be set."""
        self.asks = True
        """True if code needs the user's approval. Can be set."""
        self.cards = False
        """True if the question about code shows its effects, on a card that leaves the screen. Can be set."""
        self._keyboard = keyboard
        self._jobs = JobsAside()
        self._questions = 0
        self._showing = False
        self._quiet = ExitStack()

    async def show(self, events: AsyncIterable[Event]) -> None:
        """Show the events of one turn as they come, to its end; the caller closes `events`."""
        self._showing = True
        self._hush()
        try:
            with ticking(self.tick, self.frame_s):
                async for event in events:
                    self.draw(event)
        finally:
            self._showing = False
            self._flush()
            self._quiet.close()

    def draw(self, event: Event) -> None:
        """Show one event, and events that were held back for it."""
        for one in self._jobs.passed(event):
            self._take(one)

    def aside(self, event: Event) -> None:
        """Show an event from outside a turn."""
        self.draw(event)
        if isinstance(event, Progress) and not event.is_over:
            # It is in the status line, which is no row to flush.
            self.tick()
        else:
            self._flush()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Show all events so far, and leave the keyboard to a question."""
        if not self._questions:
            self._flush()
        self._quiet.close()
        self._questions += 1
        try:
            yield
        finally:
            self._questions -= 1
            if self._showing and not self._questions:
                self._hush()

    @abstractmethod
    def tick(self) -> None:
        """Show the progress since the last call."""

    @abstractmethod
    def say(self, *lines: str) -> None:
        """Write lines of terp; control characters are spelled out."""

    @abstractmethod
    def rows(self, rows: "Sequence[Text]") -> None:
        """Write rows without control characters."""

    @abstractmethod
    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """Write the paths of the collected files of a one-shot run."""

    @property
    def folds_code(self) -> bool:
        """True if some of the code that was proposed last is not shown."""
        return False

    @abstractmethod
    def whole_code(self) -> None:
        """Show all of the code that was proposed last, however long it is."""

    @abstractmethod
    def _take(self, event: Event) -> None:
        """Show one event in its order."""

    @abstractmethod
    def _flush(self) -> None:
        """Show everything that is held back."""

    def _hush(self) -> None:
        self._quiet.close()
        self._quiet.enter_context(tty.unechoed(self._keyboard))
