"""A table that outgrew the tail: its columns are settled, and its rows are finished one by one."""

from collections.abc import Callable, Sequence

from markdown_it.tree import SyntaxTreeNode
from rich.text import Text

from terp_cli.render.markdown.tables import TableLayout, cells_of

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

    def row(self, line: str, width: int) -> list[Text] | None:
        """Return the rows of one more line, in columns that stay; None if it is no row."""
        drawn = self._drawn(line, width)
        if drawn is None:
            return None
        self._layout, rows = drawn
        return rows

    def peek(self, line: str, width: int) -> list[Text]:
        """Return the same as `row`, for a line that is still being written."""
        drawn = self._drawn(line, width)
        return drawn[1] if drawn else []

    def _drawn(self, line: str, width: int) -> tuple[TableLayout, list[Text]] | None:
        if not line.strip():
            return None
        nodes = self._parse([*self._head, line])
        if len(nodes) != 1 or len(cells := cells_of(nodes[0])) != 2:
            return None
        # After a resize the old widths are no use.
        same = self._layout.width == width
        layout = self._layout.widened(cells[1]) if same else TableLayout.of(nodes[0], width)
        return layout, layout.row(cells[1])
