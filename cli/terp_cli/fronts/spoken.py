"""The front end for a screen reader: whole labelled lines, and no redrawing.

    front = SpokenFront(sys.stdout, keyboard=0)    # in place of a `TerminalFront`

A screen reader reads each line once. So a block is written when it is complete, under a label; waiting is
reported at most every ten seconds; no line depends on a colour or a column.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from terp.events import Event
from terp_cli.fronts.interactive import InteractiveFront
from terp_cli.terminal import tty
from terp_cli.terminal.sanitise import one_line, readable

if TYPE_CHECKING:
    from rich.text import Text

    from terp_cli.render.spoken.turn import SpokenTurn


class SpokenFront(InteractiveFront):
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
        """Take the output, a terminal or not; `verbose` writes tracebacks and reasoning whole.

        `repeats` writes the prompt too, which is not on the screen as a typed line.
        """
        super().__init__(keyboard, verbose=verbose)
        self._out = out
        self._clock = clock
        self._repeats = repeats
        self._spoken: SpokenTurn | None = None
        self._waiting: list[str] = []

    def tick(self) -> None:
        """Report what terp is waiting for, if that is due."""
        self._say(self._turn.waiting())

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Leave the screen and the keyboard to a question; lines wait for its answer."""
        try:
            with super().asking():
                yield
        finally:
            self._say([])

    def say(self, *lines: str) -> None:
        """Write lines of terp; control characters are spelled out."""
        self._say([readable(line) for line in lines if line.strip()], now=True)

    def rows(self, rows: "Sequence[Text]") -> None:
        """Write rows without control characters."""
        self._say([row.plain for row in rows], now=True)

    def whole_code(self) -> None:
        """Do nothing: all code was written."""

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        """Write the paths of the collected files of a one-shot run."""
        self._say([f"Collected: {one_line(str(path))}" for path in collected])

    def _take(self, event: Event) -> None:
        self._say(self._turn.take(event))

    def _flush(self) -> None:
        self._say(self._turn.rest())

    @property
    def _turn(self) -> "SpokenTurn":
        if self._spoken is None:
            # It imports the parser of Markdown; the prompt is shown before.
            from terp_cli.render.spoken.turn import SpokenTurn  # noqa: PLC0415

            self._spoken = SpokenTurn(self._clock, repeats=self._repeats, asks=lambda: self.asks)
        self._spoken.verbose = self.verbose
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


def _rows(line: str, width: int) -> list[str]:
    """Break a line between words at this width: half a word would be read as a word."""
    if not width or len(line) * 2 <= width:
        return [line]
    # Rich measures characters; it is heavy, and few lines are long.
    from rich.text import Text  # noqa: PLC0415

    from terp_cli.render.fold import wrapped  # noqa: PLC0415

    return [row.plain for row in wrapped(Text(line), width)]
