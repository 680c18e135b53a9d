"""Finished blocks of markdown as rows."""

from collections.abc import Callable, Iterator, Sequence

from markdown_it.tree import SyntaxTreeNode
from rich.style import Style
from rich.text import Text

from terp_cli.render import look
from terp_cli.render.code import CodeStream
from terp_cli.render.fold import wrapped
from terp_cli.render.inline import inline
from terp_cli.sanitise import readable

_LEAST_COLUMN = 8


def block(node: SyntaxTreeNode, width: int) -> list[Text]:
    """One block, without blank rows around it."""
    draw = _DRAWN.get(node.type)
    return draw(node, width) if draw else wrapped(Text(readable(node.content)), width)


def blocks(nodes: Sequence[SyntaxTreeNode], width: int) -> list[Text]:
    """Blocks with one blank row between them."""
    rows: list[Text] = []
    for node in nodes:
        if rows:
            rows.append(Text())
        rows += block(node, width)
    return rows


def _heading(node: SyntaxTreeNode, width: int) -> list[Text]:
    level = int(node.tag[1:]) - 1
    return wrapped(inline(node.children[0], look.HEADINGS[min(level, len(look.HEADINGS) - 1)]), width)


def _paragraph(node: SyntaxTreeNode, width: int) -> list[Text]:
    return wrapped(inline(node.children[0]), width)


def _quote(node: SyntaxTreeNode, width: int) -> list[Text]:
    return _prefixed(blocks(node.children, width - 2), "│ ", "│ ", look.DIM)


def _code(node: SyntaxTreeNode, width: int) -> list[Text]:
    code = CodeStream(node.info.split()[0] if node.info.strip() else "", lambda: width)
    return code.feed(node.content) + code.finish()


def _rule(_: SyntaxTreeNode, width: int) -> list[Text]:
    return [Text("─" * min(width, 40), look.RULE)]


def _list(node: SyntaxTreeNode, width: int) -> list[Text]:
    return list(_items(node, width))


def _items(node: SyntaxTreeNode, width: int) -> Iterator[Text]:
    number = int(node.attrs.get("start", 1))
    for position, item in enumerate(node.children):
        marker = f"{number + position}. " if node.type == "ordered_list" else "• "
        loose = any(child.type == "paragraph" and not child.hidden for child in item.children)
        if position and loose:
            yield Text()
        inner = width - len(marker)
        rows = blocks(item.children, inner) if loose else _tight(item.children, inner)
        yield from _prefixed(rows or [Text()], marker, " " * len(marker), look.MARKER)


def _tight(nodes: Sequence[SyntaxTreeNode], width: int) -> list[Text]:
    return [row for node in nodes for row in block(node, width)]


def _prefixed(rows: Sequence[Text], first: str, others: str, style: Style) -> list[Text]:
    return [Text.assemble((others if at else first, style), row) for at, row in enumerate(rows)]


def table(node: SyntaxTreeNode, width: int) -> list[Text]:
    """A table in columns, or as records where columns would be too narrow to read."""
    cells = cells_of(node)
    columns = len(cells[0])
    if columns and width // columns < _LEAST_COLUMN:
        return records(cells, width)
    return _columns(node, cells, width)


def cells_of(node: SyntaxTreeNode) -> list[list[Text]]:
    """The cells of a table; the header first."""
    return [
        [inline(cell.children[0] if cell.children else None) for cell in row.children]
        for part in node.children
        for row in part.children
    ]


def records(cells: Sequence[Sequence[Text]], width: int) -> list[Text]:
    """Each row of a table as `Header: value` lines, with a blank row between two."""
    header, *body = cells
    rows: list[Text] = []
    for at, values in enumerate(body):
        if at:
            rows.append(Text())
        for name, value in zip(header, values, strict=False):
            label = Text(name.plain, look.BOLD)
            rows += wrapped(Text.assemble(label, ": ", value), width)
    return rows


def _columns(node: SyntaxTreeNode, cells: list[list[Text]], width: int) -> list[Text]:
    from rich import box  # noqa: PLC0415  (slow to import, and most replies have no table)
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    drawn = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, border_style="dim", header_style="bold"
    )
    heads = node.children[0].children[0].children
    for head, name in zip(heads, cells[0], strict=True):
        side = str(head.attrs.get("style", "")).removeprefix("text-align:")
        drawn.add_column(
            name, justify="right" if side == "right" else "center" if side == "center" else "left"
        )
    for values in cells[1:]:
        drawn.add_row(*values)
    console = Console(width=width, color_system="truecolor", force_terminal=True, markup=False, emoji=False)
    rows: list[Text] = []
    for segments in console.render_lines(drawn, pad=False):
        row = Text()
        for piece, style, _ in segments:
            row.append(piece, style or Style.null())
        row.rstrip()
        rows.append(row)
    return rows


_DRAWN: dict[str, Callable[[SyntaxTreeNode, int], list[Text]]] = {
    "heading": _heading,
    "paragraph": _paragraph,
    "bullet_list": _list,
    "ordered_list": _list,
    "blockquote": _quote,
    "fence": _code,
    "code_block": _code,
    "hr": _rule,
    "table": table,
}
