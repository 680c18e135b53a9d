"""The model's reasoning: a few rows while it thinks, one line when it has thought."""

from collections.abc import Callable
from typing import Literal

from rich.text import Text

from terp.events.changes import grouped
from terp_cli.render import look
from terp_cli.render.fold import wrapped
from terp_cli.render.pieces import Pieces
from terp_cli.render.status import elapsed
from terp_cli.terminal.sanitise import readable

Detail = Literal["folded", "whole", "off"]
"""How reasoning is shown: in one line when it has ended, all of it, or not at all."""

_ROWS = 4


class FoldedReasoning:
    """Shows the end of the reasoning while it grows; then how long it took and how much it is.

    With `shown` off there is nothing to see of it but that the model thinks.
    """

    def __init__(self, width: Callable[[], int], clock: Callable[[], float], *, shown: bool) -> None:
        self._width = width
        self._clock = clock
        self._shown = shown
        self._text = Pieces()
        self._began = self._ended = clock()

    def feed(self, text: str) -> list[Text]:
        """Nothing is finished before the end."""
        self._text.add(text)
        self._ended = self._clock()
        return []

    def finish(self) -> list[Text]:
        """The line in place of the reasoning."""
        text = self._text.take().strip()
        if not (text and self._shown):
            return []
        seconds = self._ended - self._began
        took = elapsed(seconds) if seconds >= 1 else "a moment"
        return [Text(f"▸ thought for {took} · {grouped(len(text))} characters", look.DIM)]

    def tail(self, limit: int) -> list[Text]:
        """Its last rows, at most a few."""
        if not self._shown:
            return []
        most = min(limit, _ROWS)
        written = self._text.end(self._width() * most).strip()
        lines = [line for line in written.split("\n") if line.strip()][-most:]
        rows = [row for line in lines for row in wrapped(Text(readable(line), look.DIM), self._width())]
        return rows[-most:]
