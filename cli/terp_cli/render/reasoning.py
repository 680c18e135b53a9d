"""The model's reasoning: a few rows while it comes, one line afterwards."""

from collections.abc import Callable
from typing import Literal

from rich.style import Style
from rich.text import Text

from terp.events.changes import grouped
from terp_cli.render import look
from terp_cli.render.fold import wrapped
from terp_cli.render.pieces import Pieces
from terp_cli.render.status import elapsed
from terp_cli.terminal.sanitise import readable


class PlainStream:
    """Rows of text that is shown as it is written: reasoning in `verbose`."""

    def __init__(self, width: Callable[[], int], style: Style) -> None:
        self._width = width
        self._style = style
        self._line = Pieces()

    def feed(self, text: str) -> list[Text]:
        """Return the rows of the lines that `text` finished."""
        rows: list[Text] = []
        *finished, rest = text.split("\n")
        for end in finished:
            self._line.add(end)
            rows += self._rows(self._line.take())
        self._line.add(rest)
        return rows

    def finish(self) -> list[Text]:
        """Return the rows of a last line without an end."""
        return self._rows(self._line.take()) if len(self._line) else []

    def tail(self, limit: int) -> list[Text]:
        """Return the last `limit` rows of the line being written."""
        line = self._line.end(self._width() * limit)
        return self._rows(line)[-limit:] if line else []

    def _rows(self, line: str) -> list[Text]:
        return wrapped(Text(readable(line.removesuffix("\r")), self._style), self._width())


Detail = Literal["folded", "whole", "off"]
"""The forms of reasoning: one line at its end, all of it, or none."""

_ROWS = 4


class FoldedReasoning:
    """Rows of the end of the reasoning while it grows; then one line with its duration and size.

    With `shown` off there is nothing to see of it but that the model thinks.
    """

    def __init__(self, width: Callable[[], int], clock: Callable[[], float], *, shown: bool) -> None:
        self._width = width
        self._clock = clock
        self._shown = shown
        self._text = Pieces()
        self._began = self._ended = clock()

    def feed(self, text: str) -> list[Text]:
        """Store the text; no row is finished before the end."""
        self._text.add(text)
        self._ended = self._clock()
        return []

    def finish(self) -> list[Text]:
        """Return the line in place of the reasoning."""
        text = self._text.take().strip()
        if not (text and self._shown):
            return []
        seconds = self._ended - self._began
        took = elapsed(seconds) if seconds >= 1 else "a moment"
        return [Text(f"▸ thought for {took} · {grouped(len(text))} characters", look.DIM)]

    def tail(self, limit: int) -> list[Text]:
        """Return its last rows, at most a few."""
        if not self._shown:
            return []
        most = min(limit, _ROWS)
        written = self._text.end(self._width() * most).strip()
        lines = [line for line in written.split("\n") if line.strip()][-most:]
        rows = [row for line in lines for row in wrapped(Text(readable(line), look.DIM), self._width())]
        return rows[-most:]
