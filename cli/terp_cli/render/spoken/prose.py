"""Markdown as labelled lines for a screen reader.

prose = SpokenProse()
lines = prose.feed(delta)       # of the blocks that are finished
lines += prose.finish()
"""

from collections.abc import Callable, Sequence

from markdown_it.tree import SyntaxTreeNode

from terp.text.plain import counted
from terp_cli.render.markdown.grammar import parse
from terp_cli.render.markdown.inline import inline
from terp_cli.render.markdown.tables import cells_of
from terp_cli.render.math.latex import displayed
from terp_cli.render.pieces import Pieces
from terp_cli.terminal.sanitise import one_line, readable, visible

MOST_ROWS = 30
"""Rows of a table that are read; the others are counted."""


class SpokenProse:
    """Converter of a reply's text into lines, block by block."""

    def __init__(self) -> None:
        self._text = Pieces()
        self._parse_at = 0.0

    def feed(self, text: str) -> list[str]:
        """Return the lines of the blocks that `text` finished."""
        self._text.add(text)
        # A long block is looked at again only when it has grown by a quarter.
        if "\n" not in text or len(self._text) < self._parse_at:
            return []
        source, nodes = self._parsed()
        start = nodes[-1].map[0] if nodes and nodes[-1].map else 0
        self._text.add("\n".join(source.split("\n")[start:]))
        self._parse_at = 0.0 if start else 1.25 * len(self._text)
        return spoken(nodes[:-1]) if start else []

    def finish(self) -> list[str]:
        """Return the remaining lines; after this a new text may begin."""
        _, nodes = self._parsed()
        self._parse_at = 0.0
        return spoken(nodes)

    def _parsed(self) -> tuple[str, list[SyntaxTreeNode]]:
        source = self._text.take().replace("\r\n", "\n")
        return source, parse(source.split("\n"), {}, ascii_only=True)


def spoken(nodes: Sequence[SyntaxTreeNode], level: int = 1) -> list[str]:
    """Return blocks as lines; `level` counts the lists around them."""
    return [line for node in nodes for line in _SPOKEN.get(node.type, _as_it_is)(node, level)]


def code_lines(language: str, code: str) -> list[str]:
    """Return code below a line with its language and length."""
    lines = visible(code.rstrip("\n")).split("\n")
    return [
        ", ".join(filter(None, ["Code", language_name(language), counted(len(lines), "line")])) + ":",
        *lines,
    ]


def language_name(language: str) -> str:
    """Return the name of a language: "Python" for "python"."""
    name = one_line(language)
    return name[:1].upper() + name[1:]


def table_lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table row by row, each cell with the name of its column.

    A first column without a name names the rows.
    """
    size = f"Table, {counted(len(header), 'column')}, {counted(len(rows), 'row')}:"
    lines = [_row(number, header, row) for number, row in enumerate(rows[:MOST_ROWS], 1)]
    more = len(rows) - MOST_ROWS
    return [size, *lines, *([f"{counted(more, 'more row')}."] if more > 0 else [])]


def _row(number: int, header: Sequence[str], row: Sequence[str]) -> str:
    name, start = (row[0] or str(number), 1) if header[0] == "" else (str(number), 0)
    cells = (
        f"{head or 'unnamed'} is {cell or 'empty'}"
        for head, cell in zip(header[start:], row[start:], strict=False)
    )
    return f"Row {name}: {', '.join(cells)}."


def _words(node: SyntaxTreeNode) -> list[str]:
    return inline(node.children[0]).plain.split("\n")


def _quote(node: SyntaxTreeNode, level: int) -> list[str]:
    lines = _labelled("Quote", spoken(node.children, level))
    return [*lines, "End of quote."] if len(lines) > 1 else lines


def _code(node: SyntaxTreeNode, _: int) -> list[str]:
    language = node.info.split()[0] if node.info.strip() else ""
    return [*code_lines(language, node.content), "End of code."]


def _bullets(node: SyntaxTreeNode, level: int) -> list[str]:
    label = "Item" if level == 1 else f"Item of level {level}"
    return [line for item in node.children for line in _labelled(label, spoken(item.children, level + 1))]


def _numbers(node: SyntaxTreeNode, level: int) -> list[str]:
    start = int(node.attrs.get("start", 1))
    return [
        line
        for number, item in enumerate(node.children, start)
        for line in _labelled(str(number), spoken(item.children, level + 1))
    ]


def _table(node: SyntaxTreeNode, _: int) -> list[str]:
    header, *rows = ([cell.plain.replace("\n", " ") for cell in row] for row in cells_of(node))
    return table_lines(header, rows)


def _formula(node: SyntaxTreeNode, _: int) -> list[str]:
    if node.info == "open":
        return _as_it_is(node, 1)
    return [readable(line) for line in displayed(node.content, ascii_only=True)]


def _as_it_is(node: SyntaxTreeNode, _: int) -> list[str]:
    return readable(node.content).rstrip("\n").split("\n")


def _labelled(label: str, lines: Sequence[str]) -> list[str]:
    first, *rest = lines or [""]
    return [f"{label}: {first}".rstrip(), *rest]


_SPOKEN: dict[str, Callable[[SyntaxTreeNode, int], list[str]]] = {
    "heading": lambda node, _: _labelled("Heading", _words(node)),
    "paragraph": lambda node, _: _words(node),
    "blockquote": _quote,
    "fence": _code,
    "code_block": _code,
    "bullet_list": _bullets,
    "ordered_list": _numbers,
    "table": _table,
    # A line across says nothing.
    "hr": lambda *_: [],
    "formula_block": _formula,
    "footnote": lambda node, _: _labelled(f"Footnote {readable(node.info)}", _words(node)),
}
