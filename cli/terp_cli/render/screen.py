"""The screen: rows of styled text go through the painter of a terminal, in its colours."""

from collections.abc import Sequence
from typing import Protocol

from rich.text import Text

from terp_cli.render.ansi import Palette
from terp_cli.render.fold import fold, wrapped
from terp_cli.terminal.glyphs import writes_formulas
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.rows import Graphic, Row


class Screen(Protocol):
    """A target of rows. One object at a time draws on a terminal."""

    @property
    def width(self) -> int:
        """The cells of a row, at least 20."""

    @property
    def rows(self) -> int:
        """The rows of the terminal."""

    @property
    def tail_rows(self) -> int:
        """The most rows of a tail; 0 on a terminal that cannot repaint."""

    @property
    def ascii_only(self) -> bool:
        """True if formulas are written in ASCII."""

    def update(
        self, finished: Sequence[Text | Graphic], tail: Sequence[Text] = (), *, grows: bool = False
    ) -> None:
        """Append the final rows `finished`, and replace the tail; `grows`: its block is not complete."""

    def aside(self, rows: Sequence[Text]) -> bool:
        """Show rows below a block that grows, and append them after it; return False if there is no room."""


class TerminalScreen:
    """A `Screen` on a terminal."""

    def __init__(self, painter: Painter, palette: Palette) -> None:
        self._painter = painter
        self._palette = palette

    @property
    def width(self) -> int:
        """The cells of a row, at least 20."""
        return self._painter.width

    @property
    def rows(self) -> int:
        """The rows of the terminal."""
        return self._painter.rows

    @property
    def tail_rows(self) -> int:
        """The most rows of a tail; 0 on a terminal that cannot repaint."""
        return self._painter.tail_rows

    @property
    def ascii_only(self) -> bool:
        """True if formulas are written in ASCII: on a dumb terminal, or if the encoding lacks signs."""
        painter = self._painter
        return not (painter.live and writes_formulas(painter.out.encoding or "utf-8"))

    def update(
        self, finished: Sequence[Text | Graphic], tail: Sequence[Text] = (), *, grows: bool = False
    ) -> None:
        """Append `finished`, show `tail`; write once, or not at all if nothing changed."""
        rows: list[Row | Graphic] = [
            self._palette.row(row) if isinstance(row, Text) else row for row in finished
        ]
        # One row of a tail is one row of the screen, or moving up in it would miss.
        fitting = [row for text in tail for row in fold(text, self.width)] if self.tail_rows else []
        shown = [self._palette.row(text) for text in fitting[-self.tail_rows :]]
        self._painter.update(rows, shown, grows=grows)

    def aside(self, rows: Sequence[Text]) -> bool:
        """Show rows below a block that grows, and append them after it; return False if there is no room."""
        fitting = (part for row in rows for part in wrapped(row, self.width))
        return self._painter.aside([self._palette.row(part) for part in fitting])
