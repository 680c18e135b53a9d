"""Finished blocks of markdown as rows."""

from collections.abc import Callable, Iterator, Sequence

from markdown_it.tree import SyntaxTreeNode
from rich.style import Style
from rich.text import Text

from terp_cli.render import look, tables
from terp_cli.render.code import CodeStream
from terp_cli.render.fold import wrapped
from terp_cli.render.inline import inline
from terp_cli.sanitise import readable


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


_DRAWN: dict[str, Callable[[SyntaxTreeNode, int], list[Text]]] = {
    "heading": _heading,
    "paragraph": _paragraph,
    "bullet_list": _list,
    "ordered_list": _list,
    "blockquote": _quote,
    "fence": _code,
    "code_block": _code,
    "hr": _rule,
    "table": tables.table,
}
