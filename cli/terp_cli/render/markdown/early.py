"""Places to cut a block that outgrows the tail, so that its first part is final."""

import re
from collections.abc import Sequence

from markdown_it.tree import SyntaxTreeNode

from terp.text.dataclasses import dataclass
from terp_cli.render.markdown.blocks import is_loose
from terp_cli.render.markdown.formulas import may_be_open

# The rest of a paragraph must begin with a letter, or it could be read as a list or a heading.
_CUTS = re.compile(r"\s(?=[^\W\d_])|[。！？，、](?=[^\W\d_])")

_MARKER = re.compile(r" *([-+*]|\d{1,9}[.)]) {0,4}")


@dataclass(frozen=True, slots=True)
class Margin:
    """An indentation that belongs to the items of a list: in the source, and as drawn."""

    source: int
    cells: int


@dataclass(frozen=True, slots=True)
class ParagraphCut:
    """The first part ends at `end`; `join` goes between it and the rest."""

    end: int
    join: str


@dataclass(frozen=True, slots=True)
class ListCut:
    """The rest begins at `line`; `margins` are the levels that line is nested in, outermost first."""

    line: int
    loose: bool
    margins: tuple[Margin, ...]


def cut_paragraph(source: str) -> ParagraphCut | None:
    """Return the last place with no open emphasis, code or link."""
    cuts = [found.end() for found in _CUTS.finditer(source)]
    for end in reversed(cuts[-60:]):
        if _is_closed(source[:end]) and source[:end].strip():
            return ParagraphCut(end, " " if source[end - 1].isspace() else "")
    return None


def _is_closed(head: str) -> bool:
    pairs = (("[", "]"), ("(", ")"), ("<", ">"))
    return (
        not may_be_open(head)
        and all(head.count(mark) % 2 == 0 for mark in ("`", "*", "~~", " _"))
        and all(head.count(opening) == head.count(closing) for opening, closing in pairs)
    )


def cut_list(node: SyntaxTreeNode, lines: Sequence[str]) -> ListCut | None:
    """Return the start of the last item, or of the last nested item if there is only one."""
    margins: list[Margin] = []
    cells = 0
    while True:
        last = node.children[-1]
        if len(node.children) > 1 or margins:
            start = last.map[0] if last.map else 0
            if start > 0:
                return ListCut(start, is_loose(last), tuple(margins))
        inner = last.children[-1] if last.children else None
        if inner is None or inner.type not in ("bullet_list", "ordered_list") or not inner.map:
            return None
        cells += 2 if node.type == "bullet_list" else len(str(node.attrs.get("start", 1))) + 2
        line = lines[inner.map[0]]
        margins.append(Margin(len(line) - len(line.lstrip(" ")), cells))
        node = inner


def item_margins(node: SyntaxTreeNode, lines: Sequence[str], indent: int) -> list[Margin]:
    """Return the levels of a line with this indentation after the list's last item."""
    margins: list[Margin] = []
    cells = 0
    inner: SyntaxTreeNode | None = node
    while inner is not None and inner.type in ("bullet_list", "ordered_list") and inner.children:
        item = inner.children[-1]
        marker = _MARKER.match(lines[item.map[0]]) if item.map else None
        if marker is None or marker.end() > indent:
            break
        cells += 2 if inner.type == "bullet_list" else len(marker[1]) + 1
        margins.append(Margin(marker.end(), cells))
        inner = item.children[-1] if item.children else None
    return margins
