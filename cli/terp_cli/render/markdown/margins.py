"""How far lines and rows are indented that belong to items of lists."""

from collections.abc import Sequence

from rich.text import Text

from terp_cli.render.markdown.early import Margin


class Margins:
    """The lists that the next line is nested in; false outside of all."""

    def __init__(self) -> None:
        self._levels: list[Margin] = []

    def __bool__(self) -> bool:
        return bool(self._levels)

    @property
    def source(self) -> int:
        """Characters that a line must be indented to belong to the innermost item."""
        return self._levels[-1].source if self._levels else 0

    @property
    def cells(self) -> int:
        """Cells left free before a row."""
        return self._levels[-1].cells if self._levels else 0

    def nest(self, margins: Sequence[Margin]) -> None:
        """Go into further lists, the outermost of them first."""
        source, cells = self.source, self.cells
        self._levels += [Margin(source + more.source, cells + more.cells) for more in margins]

    def leave(self, indent: int) -> None:
        """Leave the lists to which a line that is indented so far does not belong."""
        while indent < self.source:
            self._levels.pop()

    def clear(self) -> None:
        """Leave all lists."""
        self._levels.clear()

    def inside(self, line: str) -> str:
        """A line as it is within the innermost item."""
        return dedented(line, self.source)

    def indented(self, rows: Sequence[Text]) -> list[Text]:
        """Rows of the innermost item as they are drawn."""
        if not self._levels:
            return list(rows)
        space = Text(" " * self.cells)
        return [space + row if row.plain else row for row in rows]


def dedented(line: str, by: int) -> str:
    """A line without at most so many spaces at its beginning."""
    return line[min(by, len(line) - len(line.lstrip(" "))) :]
