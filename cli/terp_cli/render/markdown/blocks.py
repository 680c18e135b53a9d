"""Finished blocks of markdown as rows."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from markdown_it.tree import SyntaxTreeNode
from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from terp_cli.render import look
from terp_cli.render.code import CodeStream
from terp_cli.render.fold import wrapped
from terp_cli.render.markdown import tables
from terp_cli.render.markdown.grammar import is_ascii
from terp_cli.render.markdown.inline import inline
from terp_cli.render.math.latex import displayed, formula
from terp_cli.terminal.sanitise import readable, visible

_TASK = re.compile(r"\[([ xX])\] ")


def block(node: SyntaxTreeNode, width: int) -> list[Text]:
    """Return the rows of one block, without blank rows around it."""
    draw = _DRAWN.get(node.type)
    return list(draw(node, width)) if draw else wrapped(Text(readable(node.content)), width)


def blocks(nodes: Sequence[SyntaxTreeNode], width: int) -> list[Text]:
    """Return the rows of blocks, with one blank row between them."""
    rows: list[Text] = []
    before = ""
    for node in nodes:
        if rows and not follows(before, node.type):
            rows.append(Text())
        rows += block(node, width)
        before = node.type
    return rows


def quoted(rows: Sequence[Text]) -> list[Text]:
    """Return rows with the mark of a quotation before each."""
    return _prefixed(rows, "│ ", "│ ", look.DIM)


def follows(before: str, after: str) -> bool:
    """Return True if a block of type `after` follows one of type `before` without a blank row."""
    return before == after and after in ("footnote", "definition")


def _heading(node: SyntaxTreeNode, width: int) -> list[Text]:
    level = int(node.tag[1:]) - 1
    return wrapped(inline(node.children[0], look.HEADINGS[min(level, len(look.HEADINGS) - 1)]), width)


def _code(node: SyntaxTreeNode, width: int) -> list[Text]:
    code = CodeStream(node.info.split()[0] if node.info.strip() else "", lambda: width)
    return code.feed(node.content) + code.finish()


def _formula(node: SyntaxTreeNode, width: int) -> list[Text]:
    if node.info == "open":
        return _lines(node, width)
    rows = [Text(readable(line), look.FORMULA) for line in displayed(node.content, ascii_only=is_ascii(node))]
    widest = max((cell_len(row.plain) for row in rows), default=0)
    if widest > width:
        return wrapped(Text(readable(formula(node.content, ascii_only=is_ascii(node))), look.FORMULA), width)
    return [Text(" " * min(4, width - widest)) + row for row in rows]


def _lines(node: SyntaxTreeNode, width: int) -> list[Text]:
    return [row for line in node.content.split("\n") for row in wrapped(Text(readable(line)), width)]


def _footnote(node: SyntaxTreeNode, width: int) -> list[Text]:
    mark = f"[{readable(node.info)}] "
    rows = wrapped(inline(node.children[0]), max(10, width - cell_len(mark)))
    return _prefixed(rows, mark, " " * cell_len(mark), look.DIM)


def _list(node: SyntaxTreeNode, width: int) -> Iterator[Text]:
    number = int(node.attrs.get("start", 1))
    for position, item in enumerate(node.children):
        marker = f"{number + position}. " if node.type == "ordered_list" else _bullet(item)
        loose = is_loose(item)
        if position and loose:
            yield Text()
        inner = width - len(marker)
        tight = [row for child in item.children for row in block(child, inner)]
        rows = blocks(item.children, inner) if loose else tight
        yield from _prefixed(rows or [Text()], marker, " " * len(marker), look.MARKER)


def is_loose(item: SyntaxTreeNode) -> bool:
    """Return True if blank lines set the blocks of an item apart."""
    return any(child.type == "paragraph" and not child.hidden for child in item.children)


def _bullet(item: SyntaxTreeNode) -> str:
    """Return the mark of an item; remove a task's box from its text."""
    first = item.children[0] if item.children else None
    words = first.children[0].children if first is not None and first.type == "paragraph" else []
    box = _TASK.match(words[0].content) if words and words[0].type == "text" and words[0].token else None
    if box is None or words[0].token is None:
        return "• "
    words[0].token.content = words[0].content[box.end() :]
    return "☐ " if box[1] == " " else "☑ "


def _prefixed(rows: Sequence[Text], first: str, others: str, style: Style) -> list[Text]:
    return [Text.assemble((others if at else first, style), row) for at, row in enumerate(rows)]


_DRAWN: dict[str, Callable[[SyntaxTreeNode, int], Iterable[Text]]] = {
    "heading": _heading,
    "paragraph": lambda node, width: wrapped(inline(node.children[0]), width),
    "bullet_list": _list,
    "ordered_list": _list,
    "blockquote": lambda node, width: quoted(blocks(node.children, width - 2)),
    "fence": _code,
    "code_block": _code,
    "hr": lambda _, width: [Text("─" * min(width, 40), look.RULE)],
    "table": tables.table,
    "formula_block": _formula,
    "definition": lambda node, width: wrapped(Text(visible(node.content), look.DIM), width),
    "footnote": _footnote,
    "markup": _lines,
}
