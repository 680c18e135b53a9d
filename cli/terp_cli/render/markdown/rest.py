"""What is left of a block whose first rows are finished already."""

from markdown_it.tree import SyntaxTreeNode
from rich.text import Text

from terp_cli.render.fold import wrapped
from terp_cli.render.markdown import blocks
from terp_cli.render.markdown.inline import inline


class Rest:
    """How the next block goes on where the last one was cut; false when nothing of a row is left.

    `number` is that of the next item, if an ordered list was cut.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._row: tuple[Text, str] | None = None

    def __bool__(self) -> bool:
        return self._row is not None

    def begin(self, row: Text, join: str) -> None:
        """A paragraph goes on in `row`, after `join`."""
        self._row = (row, join)

    def clear(self) -> None:
        """The next block is a new one."""
        self.number = self._row = None

    def row(self) -> list[Text]:
        """The row that has not ended."""
        return [self._row[0]] if self._row else []

    def take(self) -> list[Text]:
        """The row that has not ended, which ends with this."""
        rows, self._row = self.row(), None
        return rows

    def drawn(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """The rows of the next block."""
        if node.type == "paragraph":
            return self.paragraph(node, width)
        if self.number is not None and node.type == "ordered_list":
            node.attrs["start"] = self.number
        return [*self.row(), *blocks.block(node, width)]

    def paragraph(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """The rows of the next block, which is a paragraph."""
        text = inline(node.children[0])
        return wrapped(Text.assemble(*self._row, text) if self._row else text, width)
