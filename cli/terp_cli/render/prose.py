"""Everything of markdown but its fences: lines in, rows of finished blocks out."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from markdown_it.tree import SyntaxTreeNode
from rich.text import Text

from terp_cli.render import blocks
from terp_cli.render.early import Margin, cut_list, cut_paragraph, item_margins
from terp_cli.render.fold import wrapped
from terp_cli.render.formulas import block_opening, may_be_open
from terp_cli.render.grammar import parse
from terp_cli.render.growing_table import GrowingTable
from terp_cli.render.inline import inline
from terp_cli.sanitise import readable

_MAY_START_BLOCK = re.compile(r" {0,3}([-+*>#|=_~`]|\d{1,9}[.)])|.*\||\s*\Z| {4}|\t")
_LIST_ITEM = re.compile(r" {0,3}([-+*]|\d{1,9}[.)])(\s|\Z)")
# Not shown before the line goes on: a fence about to open, or an underline that may be a list item.
_UNDECIDED = re.compile(r"\s*(`{1,2}|`{3,}.*|~{3,}.*|[-=]+\s*)\Z")
_TABLE_RULE = re.compile(r" {0,3}(?=.*\|)[-:| \t]+")
# A table looks best when all of it is known; most are no longer than two tails.
_TABLE_PATIENCE = 2
# A blank line does not end these.
_MAY_GO_ON = ("bullet_list", "ordered_list", "code_block")
# A block larger than this, which could not be finished in part, is parsed again only after it has
# grown by a quarter: so the work stays in proportion to the text.
_LARGE = 2_000
# And one larger than this is taken for something else than markdown, and shown as it is written.
_HUGE = 8_000


class ProseBlocks:
    """Blocks waiting for their end, at most one of them unfinished."""

    def __init__(
        self, width: Callable[[], int], tail_rows: Callable[[], int], *, ascii_only: bool = False
    ) -> None:
        self._ascii_only = ascii_only
        self._full_width = width
        self._tail_rows = tail_rows
        self._lines: list[str] = []
        self._size = 0
        self._parse_at = 0
        self._references: dict[str, Any] = {}
        self._margins: list[Margin] = []
        self._carry: tuple[Text, str] | None = None
        self._number: int | None = None
        self._table: GrowingTable | None = None
        self._started = False
        self._joined = False
        self._before = ""
        self._after_blank = False

    @property
    def in_list(self) -> bool:
        """Whether the next line may belong to an item of a list."""
        return bool(self._margins) or bool(self._lines and _LIST_ITEM.match(self._lines[0]))

    @property
    def in_formula(self) -> bool:
        """Whether the next line may belong to a formula."""
        return may_be_open("\n".join(self._lines))

    def goes_on_with(self, line: str) -> bool:
        """Whether the last block is a paragraph that `line` can only belong to."""
        begun = bool(self._lines) and self._lines[-1].strip() != "" and not self._lines[-1].startswith("#")
        if not begun or self._table or not line.strip() or _LIST_ITEM.match(line):
            return False
        # What cannot end a paragraph goes on with it.
        after = parse(["text", line], {})
        return len(after) == 1 and after[0].type == "paragraph" and not block_opening(line.strip())

    @property
    def indent(self) -> int:
        """Cells left free before a row, for what belongs to an item of a list."""
        return self._margins[-1].cells if self._margins else 0

    def line(self, line: str) -> list[Text]:
        """The rows that a whole line finished."""
        rows = self._leave_margins(line) if self._margins and line.strip() else []
        self._after_blank = not line.strip()
        line = _dedented(line, self._margins[-1].source if self._margins else 0)
        if self._table:
            if (more := self._table.row(line, self._width())) is not None:
                return rows + self._indented(more, self._margins)
            self._table = None
        self._add(line)
        if self._size > _HUGE:
            return rows + self._surrender()
        if self._size < self._parse_at or not (self._too_tall() or self._may_end_block(line)):
            return rows
        return rows + self._settle()

    def _may_end_block(self, line: str) -> bool:
        if not _MAY_START_BLOCK.match(line):
            return False
        # Another item, quoted line or row of a table goes on with the block it follows.
        same = len(self._lines) > 1 and self._lines[-2].strip() != "" and line[:1] == self._lines[0][:1]
        return not (same and line[:1] in "-*+>|" and (line[:1] in ">|" or line[1:2] == " "))

    def interrupt(self, indent: int) -> list[Text]:
        """Finish all blocks before a fence that is indented so far; returns a blank row last."""
        lines = self._lines
        nodes = self._parse(lines)
        rows = self.finish_blocks()
        self._table = None
        while self._margins and indent < self._margins[-1].source:
            self._margins.pop()
        base = self._margins[-1] if self._margins else Margin(0, 0)
        if nodes:
            self._nest(item_margins(nodes[-1], lines, indent - base.source))
        return rows + self._gap()

    def shorten(self, partial: str) -> tuple[list[Text], str]:
        """Finish rows of a long paragraph whose last line is `partial`; what is left of that line."""
        size = self._size + len(partial)
        if size > _HUGE and not self._table:
            self._add(partial)
            return self._surrender(), ""
        if self._table or size < self._parse_at or self._rows_at_least(partial) <= self._limit():
            return [], partial
        nodes = self._parse([*self._lines, partial])
        if len(nodes) == 1 and nodes[0].type == "paragraph":
            rows = self._shorten_paragraph("\n".join([*self._lines, partial]))
            if rows:
                return rows, self._pop_line()
        self._parse_at = size * 5 // 4 if size > _LARGE else 0
        return [], partial

    def finish(self) -> list[Text]:
        """The rows of all that waits, at the end of the text."""
        rows = self.finish_blocks()
        self._margins, self._table, self._started, self._joined = [], None, False, False
        self._before = ""
        self._references = {}
        return rows

    def finish_blocks(self) -> list[Text]:
        """The rows of all that waits, in the middle of the text."""
        rows: list[Text] = []
        for node in self._parse(self._lines):
            rows += self._emit(node)
        if self._carry:
            rows += self._take_carry()
        self._keep([])
        return rows

    def tail(self, partial: str, limit: int) -> list[Text]:
        """The last `limit` rows of what waits, with the line that has no end yet."""
        lines = self._lines
        if self._size > _LARGE * 4:
            lines = "\n".join(lines)[-_LARGE * 2 :].split("\n")
        if self._table:
            line = _dedented(partial, self._margins[-1].source if self._margins else 0)
            return self._indented(self._table.peek(line, self._width()), self._margins)[-limit:]
        if partial and not _UNDECIDED.fullmatch(partial):
            lines = [*lines, _dedented(partial, self._margins[-1].source if self._margins else 0)]
        rows: list[Text] = []
        # A link defined by half a line must not be remembered.
        references = {"references": dict(self._references.get("references", {}))}
        before = self._before
        for at, node in enumerate(parse(lines, references, ascii_only=self._ascii_only)):
            first = not at and (self._joined or self._carry or not self._started)
            if not (first or blocks.follows(before, node.type)):
                rows.append(Text())
            before = node.type
            rows += self._drawn(node, first=at == 0)
        if not rows and self._carry:
            rows = [self._carry[0]]
        return rows[-limit:]

    def _limit(self) -> int:
        return self._tail_rows() or 12

    def _width(self) -> int:
        return max(10, self._full_width() - self.indent)

    def _add(self, line: str) -> None:
        if not self._lines and not line.strip():
            return
        self._lines.append(line)
        self._size += len(line) + 1

    def _keep(self, lines: list[str]) -> None:
        while lines and not lines[0].strip():
            lines = lines[1:]
        self._lines = lines
        self._size = sum(len(line) + 1 for line in lines)

    def _pop_line(self) -> str:
        *lines, last = self._lines
        self._keep(lines)
        return last

    def _too_tall(self) -> bool:
        is_table = len(self._lines) > 1 and _TABLE_RULE.fullmatch(self._lines[1])
        return self._rows_at_least("") > self._limit() * (_TABLE_PATIENCE if is_table else 1)

    def _rows_at_least(self, partial: str) -> int:
        if self._lines and not self._lines[0].lstrip()[:1].isalnum():
            return len(self._lines)
        return (self._size + len(partial)) // self._width()

    def _parse(self, lines: Sequence[str]) -> list[SyntaxTreeNode]:
        return parse(lines, self._references, ascii_only=self._ascii_only)

    def _settle(self) -> list[Text]:
        """Finish all blocks but the last, and of that what can be finished early."""
        nodes = self._parse(self._lines)
        ended = not self._lines or not self._lines[-1].strip()
        if not nodes:
            self._keep([] if ended else self._lines)
            return []
        rows: list[Text] = []
        *done, last = nodes
        for node in done:
            rows += self._emit(node)
        if ended and last.type not in _MAY_GO_ON:
            rows += self._emit(last)
            self._keep([])
        else:
            self._keep(self._lines[_start(last) :] if done else self._lines)
            if self._too_tall():
                rows += self._early(last)
        self._parse_at = self._size * 5 // 4 if self._size > _LARGE else 0
        return rows

    def _surrender(self) -> list[Text]:
        """The rows of what waits, as it is written."""
        rows = self._settle()
        if self._size <= _HUGE:
            return rows
        rows += self._take_carry() or self._gap()
        for line in self._lines:
            rows += self._indented(wrapped(Text(readable(line)), self._width()), self._margins)
        self._keep([])
        self._parse_at, self._joined = 0, True
        return rows

    def _early(self, node: SyntaxTreeNode) -> list[Text]:
        match node.type:
            case "paragraph":
                return self._shorten_paragraph("\n".join(self._lines))
            case "bullet_list" | "ordered_list":
                return self._shorten_list()
            case "table":
                return self._begin_table()
            case "code_block" | "blockquote" if all(child.type != "fence" for child in node.walk()):
                return self._shorten_at(len(self._lines) - 1)
            case _:
                return []

    def _shorten_paragraph(self, source: str) -> list[Text]:
        cut = cut_paragraph(source)
        if cut is None:
            return []
        (head,) = self._parse(source[: cut.end].split("\n"))
        *rows, last = self._paragraph(head)
        rows = [*([] if self._carry else self._gap()), *self._indented(rows, self._margins)]
        self._carry = (last, cut.join)
        self._keep(source[cut.end :].lstrip().split("\n"))
        return rows

    def _shorten_list(self) -> list[Text]:
        (node,) = self._parse(self._lines)
        cut = cut_list(node, self._lines)
        if cut is None:
            return []
        number = self._number if self._number is not None else int(node.attrs.get("start", 1))
        rows = self._shorten_at(cut.line)
        self._joined = not cut.loose
        if cut.margins:
            self._nest(cut.margins)
            self._keep([_dedented(line, cut.margins[-1].source) for line in self._lines])
        elif node.type == "ordered_list":
            self._number = number + len(node.children) - 1
        return rows

    def _shorten_at(self, line: int) -> list[Text]:
        if line <= 0:
            return []
        rows: list[Text] = []
        for node in self._parse(self._lines[:line]):
            rows += self._emit(node)
        self._joined = True
        self._keep(self._lines[line:])
        return rows

    def _begin_table(self) -> list[Text]:
        """The rows so far, in the widths they have; those that follow are finished one by one."""
        (node,) = self._parse(self._lines)
        self._table = GrowingTable(node, self._lines[:2], self._width(), self._parse)
        self._keep([])
        return [*self._gap(), *self._indented(self._table.first_rows, self._margins)]

    def _leave_margins(self, line: str) -> list[Text]:
        indent = len(line) - len(line.lstrip(" "))
        if indent >= self._margins[-1].source:
            return []
        rows = self.finish_blocks()
        while self._margins and indent < self._margins[-1].source:
            self._margins.pop()
        self._joined = bool(_LIST_ITEM.match(line.lstrip(" "))) and bool(rows) and not self._after_blank
        return rows

    def _nest(self, margins: Sequence[Margin]) -> None:
        base = self._margins[-1] if self._margins else Margin(0, 0)
        self._margins += [Margin(base.source + m.source, base.cells + m.cells) for m in margins]

    def _emit(self, node: SyntaxTreeNode) -> list[Text]:
        self._joined = self._joined or blocks.follows(self._before, node.type)
        self._before = node.type
        gap = [] if self._carry else self._gap()
        rows = self._drawn(node, first=True)
        self._carry = self._number = None
        return gap + rows

    def _take_carry(self) -> list[Text]:
        rows = self._indented([self._carry[0]], self._margins) if self._carry else []
        self._carry = None
        return rows

    def _gap(self) -> list[Text]:
        blank = self._started and not self._joined
        self._started, self._joined = True, False
        return [Text()] if blank else []

    def _drawn(self, node: SyntaxTreeNode, *, first: bool) -> list[Text]:
        if first and node.type == "paragraph":
            rows = self._paragraph(node)
        else:
            if first and self._number is not None and node.type == "ordered_list":
                node.attrs["start"] = self._number
            rows = blocks.block(node, self._width())
            if first and self._carry:
                rows = [self._carry[0], *rows]
        return self._indented(rows, self._margins)

    def _paragraph(self, node: SyntaxTreeNode) -> list[Text]:
        text = inline(node.children[0])
        if self._carry:
            before, join = self._carry
            text = Text.assemble(before, join, text)
        return wrapped(text, self._width())

    @staticmethod
    def _indented(rows: Sequence[Text], margins: Sequence[Margin]) -> list[Text]:
        if not margins:
            return list(rows)
        space = Text(" " * margins[-1].cells)
        return [space + row if row.plain else row for row in rows]


def _start(node: SyntaxTreeNode) -> int:
    return node.map[0] if node.map else 0


def _dedented(line: str, by: int) -> str:
    return line[min(by, len(line) - len(line.lstrip(" "))) :]
