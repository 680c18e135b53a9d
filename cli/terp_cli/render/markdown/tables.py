"""Tables in columns. Their widths can be fixed before the last row is known.

layout = TableLayout.of(cells, sides, width)
rows = layout.table(cells)                  # the header, a rule, and what is known of the body
layout = layout.widened(cells)              # one more row, which may hold a longer word
rows += layout.row(cells)
"""

from collections.abc import Callable, Sequence
from typing import Self

from markdown_it.tree import SyntaxTreeNode
from rich.cells import cell_len
from rich.text import Text

from terp.text.dataclasses import dataclass, replace
from terp_cli.render import look
from terp_cli.render.fold import wrapped
from terp_cli.render.markdown.inline import inline

_GAP = 3
# With narrower columns on average, a row is easier to read as lines.
_LEAST_COLUMN = 8
# In a narrower window a table that does not fit is one block a row.
_NARROW = 50

Cells = Sequence[Text]


def table(node: SyntaxTreeNode, width: int) -> list[Text]:
    """Return the rows of a whole table."""
    return TableLayout.of(node, width).table(cells_of(node))


def cells_of(node: SyntaxTreeNode) -> list[list[Text]]:
    """Return the cells of a table; the header first."""
    return [
        [inline(cell.children[0] if cell.children else None) for cell in row.children]
        for part in node.children
        for row in part.children
    ]


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The layout of a table: columns of these `widths`, or `Header: value` lines."""

    header: Cells
    sides: Sequence[str]
    widths: Sequence[int]
    width: int
    in_columns: bool

    @classmethod
    def of(cls, node: SyntaxTreeNode, width: int) -> Self:
        """Return a layout for the rows of `node`, at most `width` cells wide."""
        cells = cells_of(node)
        sides = [
            str(head.attrs.get("style", "")).removeprefix("text-align:")
            for head in node.children[0].children[0].children
        ]
        natural = [max(_width(cell) for cell in column) for column in zip(*cells, strict=False)]
        room = width - _GAP * (len(natural) - 1)
        is_wide = width >= _NARROW and width // len(natural) >= _LEAST_COLUMN
        in_columns = sum(natural) <= room or is_wide
        return cls(cells[0], sides, _fitted(natural, room) if in_columns else natural, width, in_columns)

    def widened(self, cells: Cells) -> Self:
        """Return the layout with room for each word of one more row; a wide column shrinks first."""
        if not self.in_columns:
            return self
        longest = [max((cell_len(word) for word in cell.plain.split()), default=0) for cell in cells]
        widths = [max(pair) for pair in zip(self.widths, longest, strict=False)]
        return replace(self, widths=_fitted(widths, self.width - _GAP * (len(widths) - 1)))

    def table(self, cells: Sequence[Cells]) -> list[Text]:
        """Return the header and the rows below it; `cells` begin with the header."""
        if not self.in_columns:
            return [row for at, body in enumerate(cells[1:]) for row in self._record(body, first=at == 0)]
        header = [Text(cell.plain, look.BOLD) for cell in cells[0]]
        rule = Text("─" * (sum(self.widths) + _GAP * (len(self.widths) - 1)), look.RULE)
        return [*self._columns(header), rule, *(row for body in cells[1:] for row in self._columns(body))]

    def row(self, cells: Cells) -> list[Text]:
        """Return one more row."""
        return self._columns(cells) if self.in_columns else self._record(cells, first=False)

    def _columns(self, cells: Cells) -> list[Text]:
        wraps = [wrapped(cell, width) for cell, width in zip(cells, self.widths, strict=False)]
        rows = [Text() for _ in range(max(len(lines) for lines in wraps))]
        for at, (lines, width, side) in enumerate(zip(wraps, self.widths, self.sides, strict=False)):
            for row, line in zip(rows, [*lines, *[Text()] * (len(rows) - len(lines))], strict=True):
                free = max(0, width - cell_len(line.plain))
                before = {"right": free, "center": free // 2}.get(side, 0)
                row.append(" " * ((_GAP if at else 0) + before))
                row.append_text(line)
                row.append(" " * (free - before))
        for row in rows:
            row.rstrip()
        return rows

    def _record(self, cells: Cells, *, first: bool) -> list[Text]:
        rows = [] if first else [Text()]
        for name, value in zip(self.header, cells, strict=False):
            rows += wrapped(Text.assemble(Text(name.plain, look.BOLD), ": ", value), self.width)
        return rows


def _width(cell: Text) -> int:
    return max(cell_len(line) for line in cell.plain.split("\n"))


def _fitted(natural: Sequence[int], room: int) -> list[int]:
    """Return widths with a sum of at most `room`; the widest columns shrink first."""
    widths = list(natural)
    room = max(room, len(widths))
    while (over := sum(widths) - room) > 0:
        widest = max(widths)
        wide = [at for at, width in enumerate(widths) if width == widest]
        next_widest = max((width for width in widths if width < widest), default=0)
        less = min(widest - next_widest, -(-over // len(wide)))
        for at in wide:
            widths[at] -= less
    return [max(1, width) for width in widths]


Parse = Callable[[Sequence[str]], list[SyntaxTreeNode]]


class GrowingTable:
    """Rows of a table after its first ones; `head` is its first two lines.

    `parse` gives the blocks of lines.
    """

    def __init__(self, node: SyntaxTreeNode, head: Sequence[str], width: int, parse: Parse) -> None:
        self._head = head
        self._parse = parse
        self._layout = TableLayout.of(node, width)
        self.first_rows = self._layout.table(cells_of(node))

    def row(self, line: str) -> list[Text] | None:
        """Return the rows of one more line, in columns that stay; None if it is no row."""
        drawn = self._drawn(line)
        if drawn is None:
            return None
        self._layout, rows = drawn
        return rows

    def peek(self, line: str) -> list[Text]:
        """Return the same as `row`, for a line that is still being written."""
        drawn = self._drawn(line)
        return drawn[1] if drawn else []

    def _drawn(self, line: str) -> tuple[TableLayout, list[Text]] | None:
        if not line.strip():
            return None
        nodes = self._parse([*self._head, line])
        if len(nodes) != 1 or len(cells := cells_of(nodes[0])) != 2:
            return None
        layout = self._layout.widened(cells[1])
        return layout, layout.row(cells[1])
