"""Where rows of styled text go: the painter of a terminal, with the colours that it has."""

from collections.abc import Sequence
from typing import Protocol

from rich.text import Text

from terp_cli.render.ansi import Palette
from terp_cli.render.fold import fold, wrapped
from terp_cli.terminal.glyphs import writes_formulas
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.rows import Graphic, Row


class Screen(Protocol):
    """Where rows go. One object at a time draws on a terminal."""

    @property
    def width(self) -> int:
        """Cells of a row, at least 20."""

    @property
    def rows(self) -> int:
        """How many rows the terminal has."""

    @property
    def tail_rows(self) -> int:
        """How many rows a tail may have; 0 where nothing can be painted again."""

    @property
    def ascii_only(self) -> bool:
        """Whether formulas are better written in ASCII."""

    def update(
        self, finished: Sequence[Text | Graphic], tail: Sequence[Text] = (), *, grows: bool = False
    ) -> None:
        """Append `finished` for good, and show `tail` below in place of the last; it `grows`, or is over."""

    def aside(self, rows: Sequence[Text]) -> bool:
        """Append rows once what grows is over, and show them below it; False where there is no room."""


class TerminalScreen:
    """A `Screen` on a terminal."""

    def __init__(self, painter: Painter, palette: Palette) -> None:
        self._painter = painter
        self._palette = palette

    @property
    def width(self) -> int:
        """Cells of a row, at least 20."""
        return self._painter.width

    @property
    def rows(self) -> int:
        """How many rows the terminal has."""
        return self._painter.rows

    @property
    def tail_rows(self) -> int:
        """How many rows a tail may have; 0 where nothing can be painted again."""
        return self._painter.tail_rows

    @property
    def ascii_only(self) -> bool:
        """Whether formulas are better written in ASCII: on a dumb terminal, and where signs are missing."""
        painter = self._painter
        return not (painter.live and writes_formulas(painter.out.encoding or "utf-8"))

    def update(
        self, finished: Sequence[Text | Graphic], tail: Sequence[Text] = (), *, grows: bool = False
    ) -> None:
        """Append `finished`, show `tail`; writes once, or not at all when nothing changed."""
        rows: list[Row | Graphic] = [
            self._palette.row(row) if isinstance(row, Text) else row for row in finished
        ]
        # One row of a tail is one row of the screen, or moving up in it would miss.
        fitting = [row for text in tail for row in fold(text, self.width)] if self.tail_rows else []
        shown = [self._palette.row(text) for text in fitting[-self.tail_rows :]]
        self._painter.update(rows, shown, grows=grows)

    def aside(self, rows: Sequence[Text]) -> bool:
        """Append rows once what grows is over, and show them below it; False where there is no room."""
        fitting = (part for row in rows for part in wrapped(row, self.width))
        return self._painter.aside([self._palette.row(part) for part in fitting])
