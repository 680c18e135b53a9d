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
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from terp.events import CodeProposed, Event, LateOutput, Noticed, Printed, TurnFinished
from terp.events.outputs import Display, DisplayUpdate
from terp_cli.fronts.event_order import CallOrder, JobsAside
from terp_cli.fronts.front_end import ticking
from terp_cli.terminal import tty
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.sanitise import one_line, readable

if TYPE_CHECKING:
    from rich.text import Text

    from terp_cli.render.ansi import Screen
    from terp_cli.render.look import Theme
    from terp_cli.render.output.display import Draw
    from terp_cli.render.transcript import DrawnTranscript
    from terp_cli.terminal.rows import Graphic

_FRAME_S, _SLOWEST_FRAME_S = 0.05, 0.1


class TerminalFront:
    """Front end that draws turns on a screen."""

    def __init__(
        self,
        screen: Callable[[], "Screen"],
        *,
        keyboard: int | None = None,
        drawer: "Callable[[], Draw | None] | None" = None,
        settled: Callable[[], Awaitable[None]] | None = None,
        clock: Callable[[], float] = time.monotonic,
        verbose: bool = False,
    ) -> None:
        """Take functions that create the screen, and the drawer of pictures, at their first use.

        A picture waits for `settled`: then the terminal's abilities are known. `verbose` shows tracebacks
        whole. `keyboard` is the terminal's descriptor, on which echo is off during a turn; None if a
        `PromptApp` reads it then.
        """
        self._make_screen = screen
        self._keyboard = keyboard
        self._make_drawer = drawer
        self._settled = settled
        self._clock = clock
        self._verbose = verbose
        self._asks = True
        self._jobs = JobsAside()
        self._order = CallOrder()
        self._drawn_on: tuple[Screen, DrawnTranscript] | None = None
        self._waiting: list[Text | Graphic] = []
        self._next_frame = 0.0
        self._questions = 0
        self._showing = False
        self._quiet = ExitStack()

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
        """A front end for a terminal with the colours of its environment.

        `images` and `theme` are the settings of those names.
        """

        def screen() -> "Screen":
            # Importing rich takes longer than painting a prompt.
            from terp_cli.render.ansi import Palette, TerminalScreen  # noqa: PLC0415
            from terp_cli.render.look import theme_of  # noqa: PLC0415

            def ground() -> "Theme":
                return theme_of(theme, painter.facts.background, environ)

            return TerminalScreen(painter, Palette(tty.colours_of(environ), ground))

        def drawer() -> "Draw | None":
            from terp_cli.render.pictures.drawer import drawer_on  # noqa: PLC0415

            return drawer_on(painter.out, images, environ, lambda: painter.facts)

        settled = painter.pending.settled
        return cls(screen, keyboard=keyboard, drawer=drawer, settled=settled, verbose=verbose)

    async def show(self, events: AsyncIterable[Event]) -> None:
        """Draw events as they come, until they end; the caller closes `events`."""
        self._showing = True
        self._hush()
        if self._keyboard is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTSTP, self._suspend)
        try:
            with ticking(self.tick, _FRAME_S):
                async for event in events:
                    if self._settled is not None and _has_picture(event):
                        await self._settled()
                    self.draw(event)
        finally:
            if self._keyboard is not None:
                asyncio.get_running_loop().remove_signal_handler(signal.SIGTSTP)
            self._showing = False
            self._waiting += self._transcript.rest()
            self._paint(final=True)
            self._quiet.close()

    def draw(self, event: Event) -> None:
        """Draw one event: now if a frame is due, else with the next `tick`."""
        self._take(event)
        if isinstance(event, CodeProposed | TurnFinished):
            # The user approves this next, or types.
            self._paint(final=True)
        else:
            self.tick()

    def tick(self) -> None:
        """Paint what has changed, unless the last frame is too recent."""
        if self._clock() >= self._next_frame:
            self._paint()

    def aside(self, event: Event) -> None:
        """Draw an event from outside a turn."""
        self._take(event)
        self._waiting += self._transcript.rest()
        if self._waiting:
            self._paint(final=True)

    def say(self, *lines: str) -> None:
        """Write lines of terp; control characters are spelled out."""
        from terp_cli.render.fold import hanging  # noqa: PLC0415

        self.rows([row for line in lines for row in hanging(readable(line), self._screen.width)])

    @property
    def asks(self) -> bool:
        """True if code needs the user's approval. Can be set."""
        return self._asks

    @asks.setter
    def asks(self, on: bool) -> None:
        self._asks = on
        if self._drawn_on is not None:
            self._drawn_on[1].asks = on

    @property
    def folds_code(self) -> bool:
        """True if some of the code that was proposed last is not shown."""
        return self._transcript.folds_code

    def whole_code(self) -> None:
        """Show all of the code that was proposed last, however long it is."""
        self.rows(self._transcript.whole_code())

    @property
    def verbose(self) -> bool:
        """True if tracebacks are shown whole. Can be set."""
        return self._verbose

    @verbose.setter
    def verbose(self, on: bool) -> None:
        self._verbose = on
        if self._drawn_on is not None:
            self._drawn_on[1].verbose = on

    def rows(self, rows: "Sequence[Text]") -> None:
        """Write rows without control characters, below a block that still grows, then after it."""
        if self._transcript.grows and self._screen.aside(rows):
            return
        self._waiting += [*self._transcript.rest(), *rows]
        self._paint(final=True)

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """Name the collected files of a one-shot run."""
        if collected:
            self.say(*(f"collected: {one_line(str(path))}" for path in collected))

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Draw all events so far, and leave the keyboard to a question."""
        self._waiting += self._transcript.rest() if not self._questions else []
        self._paint(final=True)
        self._quiet.close()
        self._questions += 1
        try:
            yield
        finally:
            self._questions -= 1
            if self._showing and not self._questions:
                self._hush()

    def _take(self, event: Event) -> None:
        """Draw an event in its order among others."""
        from terp_cli.render import words  # noqa: PLC0415  (see `on`)

        for in_turn in self._jobs.passed(event):
            for one in self._order.passed(in_turn):
                if isinstance(one, Noticed) and self._transcript.grows:
                    self.rows(words.sentence(one))
                else:
                    self._waiting += self._transcript.show(one)

    @property
    def _screen(self) -> "Screen":
        return self._parts()[0]

    @property
    def _transcript(self) -> "DrawnTranscript":
        return self._parts()[1]

    def _parts(self) -> tuple["Screen", "DrawnTranscript"]:
        if self._drawn_on is None:
            from terp_cli.render.transcript import DrawnTranscript  # noqa: PLC0415  (see `on`)

            screen = self._make_screen()
            transcript = DrawnTranscript(
                lambda: screen.width,
                lambda: screen.tail_rows,
                self._clock,
                verbose=self._verbose,
                draw=self._make_drawer() if self._make_drawer is not None else None,
                rows=lambda: screen.rows,
            )
            transcript.asks = self._asks
            transcript.ascii_only = screen.ascii_only
            self._drawn_on = (screen, transcript)
        return self._drawn_on

    def _paint(self, *, final: bool = False) -> None:
        began = self._clock()
        screen, transcript = self._parts()
        rows, self._waiting = self._waiting, []
        tail = [] if final else transcript.tail(screen.tail_rows)
        screen.update(rows, tail, grows=transcript.grows)
        ended = self._clock()
        self._next_frame = ended + min(_SLOWEST_FRAME_S, max(_FRAME_S, 10 * (ended - began)))

    def _hush(self) -> None:
        self._quiet.close()
        self._quiet.enter_context(tty.unechoed(self._keyboard))

    def _suspend(self) -> None:
        """Suspend (Ctrl-Z) with the terminal in order; use it again afterwards."""
        loop = asyncio.get_running_loop()
        self._paint(final=True)
        self._quiet.close()
        # This restores the default action: the process stops here.
        loop.remove_signal_handler(signal.SIGTSTP)
        signal.raise_signal(signal.SIGTSTP)
        loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        if not self._questions:
            self._hush()


def _has_picture(event: Event) -> bool:
    if not isinstance(event, Printed | LateOutput) or not isinstance(event.output, Display | DisplayUpdate):
        return False
    return any(kind.startswith("image/") for kind in event.output.data)
