"""The front end that draws on a terminal.

    painter = Painter(sys.stdout, size)
    front = TerminalFront.on(painter, keyboard=0, environ=os.environ)
    person = TerminalPerson(front, lambda: prompt)      # terp_cli.repl.approval, terp_cli.prompt.prompt_app
    session = Session(model, kernels, person, …)
    async with aclosing(session.turn(prompt)) as events:
        await front.show(events)                        # draws until the turn is over

`show` draws every event, at most 20 times a second, and returns when the events end. The painter
keeps the drawing above the bottom lines with the prompt (`terp_cli.prompt.prompt_app`).
`front.say(text)` writes a line of terp.
"""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from terp.events import CodeProposed, Event, LateOutput, Printed, TurnFinished
from terp.events.outputs import Display, DisplayUpdate
from terp_cli.fronts.interactive import InteractiveFront
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from rich.text import Text

    from terp_cli.fronts.drawing import Drawing
    from terp_cli.render.ansi import TerminalScreen
    from terp_cli.render.output.display import Draw


class TerminalFront(InteractiveFront):
    """Front end that draws turns on a screen."""

    frame_s = 0.05

    def __init__(
        self,
        screen: Callable[[], "TerminalScreen"],
        *,
        keyboard: int | None = None,
        drawer: "Callable[[], Draw | None] | None" = None,
        settled: Callable[[], Awaitable[None]] | None = None,
        clock: Callable[[], float] = time.monotonic,
        verbose: bool = False,
    ) -> None:
        """Take functions that create the screen, and the drawer of pictures, at their first use.

        A picture waits for `settled`: then the terminal's abilities are known. `verbose` shows tracebacks
        whole.
        """
        super().__init__(keyboard, verbose=verbose)
        self._make_screen = screen
        self._make_drawer = drawer
        self._settled = settled
        self._clock = clock

    @classmethod
    def on(
        cls,
        painter: Painter,
        *,
        keyboard: int | None,
        environ: Mapping[str, str],
        images: str = "off",
        theme: str = "auto",
        verbose: bool = False,
    ) -> "TerminalFront":
        """Return a front end for a terminal with the colours of its environment.

        `images` and `theme` are the settings of those names.
        """
        return cls(
            lambda: _drawing().screen_on(painter, theme, environ),
            keyboard=keyboard,
            drawer=lambda: _drawing().pictures_on(painter, images, environ),
            settled=painter.pending.settled,
            verbose=verbose,
        )

    async def show(self, events: AsyncIterable[Event]) -> None:
        """Draw events as they come, until they end; the caller closes `events`. Ctrl-Z suspends terp."""
        loop = asyncio.get_running_loop()
        if self._keyboard is not None:
            loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        try:
            async with aclosing(self._settling(events)) as ready:
                await super().show(ready)
        finally:
            if self._keyboard is not None:
                loop.remove_signal_handler(signal.SIGTSTP)

    def draw(self, event: Event) -> None:
        """Draw one event: now if a frame is due, else with the next `tick`."""
        super().draw(event)
        if isinstance(event, CodeProposed | TurnFinished):
            # The user approves this next, or types.
            self._drawing.paint(final=True)
        else:
            self.tick()

    def tick(self) -> None:
        """Paint what has changed, unless the last frame is too recent."""
        self._drawing.tick()

    def say(self, *lines: str) -> None:
        """Write lines of terp; control characters are spelled out."""
        self._drawing.say(lines)

    def rows(self, rows: "Sequence[Text]") -> None:
        """Write rows without control characters, below a block that still grows, then after it."""
        self._drawing.write(rows)

    @property
    def folds_code(self) -> bool:
        """True if some of the code that was proposed last is not shown."""
        return self._drawing.transcript.folds_code

    def whole_code(self) -> None:
        """Show all of the code that was proposed last, however long it is."""
        self.rows(self._drawing.transcript.whole_code())

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """Write the paths of the collected files of a one-shot run."""
        if collected:
            self.say(*(f"collected: {one_line(str(path))}" for path in collected))

    async def _settling(self, events: AsyncIterable[Event]) -> AsyncGenerator[Event, None]:
        """Yield the events; a picture waits until the terminal's abilities are known."""
        async for event in events:
            if self._settled is not None and _has_picture(event):
                await self._settled()
            yield event

    def _take(self, event: Event) -> None:
        transcript = self._drawing.transcript
        transcript.asks, transcript.verbose, transcript.cards = self.asks, self.verbose, self.cards
        self._drawing.add(event)

    def _flush(self) -> None:
        self._drawing.flush()

    @cached_property
    def _drawing(self) -> "Drawing":
        draw = self._make_drawer() if self._make_drawer is not None else None
        drawing: Drawing = _drawing().Drawing(self._make_screen(), self._clock, draw, verbose=self.verbose)
        # The prompt reads more keys than the terminal's driver, which knows Ctrl-C.
        prompted = self._keyboard is None
        status = drawing.transcript.status
        drawing.transcript.recalls = prompted
        status.stops, status.detaches = "Esc stops" if prompted else "Ctrl-C stops", prompted
        return drawing

    def _suspend(self) -> None:
        """Suspend (Ctrl-Z) with the terminal in order; use it again afterwards."""
        loop = asyncio.get_running_loop()
        self._drawing.paint(final=True)
        self._quiet.close()
        # This restores the default action: the process stops here.
        loop.remove_signal_handler(signal.SIGTSTP)
        signal.raise_signal(signal.SIGTSTP)
        loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        if not self._questions:
            self._hush()


def _drawing() -> ModuleType:
    # Importing rich takes longer than painting a prompt.
    from terp_cli.fronts import drawing  # noqa: PLC0415

    return drawing


def _has_picture(event: Event) -> bool:
    if not isinstance(event, Printed | LateOutput) or not isinstance(event.output, Display | DisplayUpdate):
        return False
    return any(kind.startswith("image/") for kind in event.output.data)
