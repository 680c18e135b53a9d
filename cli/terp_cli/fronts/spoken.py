"""The front end for a screen reader: whole labelled lines, and no redrawing.

front = SpokenFront.on(sys.stdout, keyboard=0, environ=os.environ)    # in place of a `TerminalFront`

A screen reader reads each line once. So a block is written when it is complete, under a label; waiting is
reported at most every ten seconds; no line depends on a colour or a column.
"""

import time
from collections.abc import AsyncIterable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from terp.events import Event
from terp_cli.fronts.event_order import JobsAside
from terp_cli.fronts.front_end import ticking
from terp_cli.terminal import tty
from terp_cli.terminal.sanitise import one_line, readable

if TYPE_CHECKING:
    from rich.text import Text

    from terp_cli.render.spoken.turn import SpokenTurn

_TICK_S = 1.0


class SpokenFront:
    """Front end that writes turns as lines to `out`; they wait while a question is open."""

    def __init__(
        self,
        out: TextIO,
        *,
        keyboard: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        verbose: bool = False,
        repeats: bool = True,
    ) -> None:
        """Take the terminal's descriptor as `keyboard`; `verbose` writes tracebacks and reasoning whole.

        `repeats` writes the prompt too, which is not on the screen as a typed line.
        """
        self._out = out
        self._keyboard = keyboard
        self._clock = clock
        self._verbose = verbose
        self._repeats = repeats
        self.asks = True
        self._jobs = JobsAside()
        self._spoken: SpokenTurn | None = None
        self._waiting: list[str] = []
        self._questions = 0
        self._showing = False
        self._quiet = ExitStack()

    @classmethod
    def on(
        cls,
        out: TextIO,
        *,
        keyboard: int | None,
        environ: Mapping[str, str],  # noqa: ARG003  (the terminal's abilities make no difference)
        verbose: bool = False,
        repeats: bool = True,
    ) -> "SpokenFront":
        """Return a front end that writes to `out`, a terminal or not."""
        return cls(out, keyboard=keyboard, verbose=verbose, repeats=repeats)

    async def show(self, events: AsyncIterable[Event]) -> None:
        """Write events as they come, until they end; the caller closes `events`."""
        self._showing = True
        self._hush()
        try:
            with ticking(self.tick, _TICK_S):
                async for event in events:
                    self.draw(event)
        finally:
            self._showing = False
            self._say(self._turn.rest())
            self._quiet.close()

    def draw(self, event: Event) -> None:
        """Write the blocks that `event` completes."""
        for one in self._jobs.passed(event):
            self._say(self._turn.take(one))

    def tick(self) -> None:
        """Report what terp is waiting for, if that is due."""
        self._say(self._turn.waiting())

    def aside(self, event: Event) -> None:
        """Write an event from outside a turn."""
        for one in self._jobs.passed(event):
            self._say(self._turn.take(one))
        self._say(self._turn.rest())

    def say(self, *lines: str) -> None:
        """Write lines of terp; control characters are spelled out."""
        self._say([readable(line) for line in lines if line.strip()], now=True)

    @property
    def folds_code(self) -> bool:
        """False: all code is written."""
        return False

    def whole_code(self) -> None:
        """Do nothing: all code was written."""

    @property
    def verbose(self) -> bool:
        """True if tracebacks and reasoning are written whole. Can be set."""
        return self._verbose

    @verbose.setter
    def verbose(self, on: bool) -> None:
        self._verbose = on
        self._turn.verbose = on

    def rows(self, rows: "Sequence[Text]") -> None:
        """Write rows without control characters."""
        self._say([row.plain for row in rows], now=True)

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """Name the collected files of a one-shot run."""
        self._say([f"Collected: {one_line(str(path))}" for path in collected])

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Leave the screen and the keyboard to a question."""
        self._say(self._turn.rest())
        self._quiet.close()
        self._questions += 1
        try:
            yield
        finally:
            self._questions -= 1
            if not self._questions:
                self._say([])
                if self._showing:
                    self._hush()

    @property
    def _turn(self) -> "SpokenTurn":
        if self._spoken is None:
            # It imports the parser of Markdown; the prompt is shown before.
            from terp_cli.render.spoken.turn import SpokenTurn  # noqa: PLC0415

            self._spoken = SpokenTurn(
                self._clock, verbose=self._verbose, repeats=self._repeats, asks=lambda: self.asks
            )
        return self._spoken

    def _say(self, lines: Sequence[str], *, now: bool = False) -> None:
        self._waiting += lines
        if self._waiting and (now or not self._questions):
            # One write, so that it is read as one piece.
            width = tty.size_of(self._out)[0] if self._out.isatty() else 0
            text = "".join(f"{row}\n" for line in self._waiting for row in _rows(line, width))
            self._waiting = []
            self._out.write(text)
            self._out.flush()

    def _hush(self) -> None:
        self._quiet.close()
        self._quiet.enter_context(tty.unechoed(self._keyboard))


def _rows(line: str, width: int) -> list[str]:
    """Break a line between words at this width: half a word would be read as a word."""
    if not width or len(line) * 2 <= width:
        return [line]
    # Rich measures characters; it is heavy, and few lines are long.
    from rich.text import Text  # noqa: PLC0415

    from terp_cli.render.fold import wrapped  # noqa: PLC0415

    return [row.plain for row in wrapped(Text(line), width)]
