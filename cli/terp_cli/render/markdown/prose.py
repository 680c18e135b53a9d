"""All Markdown but fences: lines in, rows of finished blocks out."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from markdown_it.tree import SyntaxTreeNode
from rich.text import Text

from terp_cli.render.fold import wrapped
from terp_cli.render.markdown import blocks
from terp_cli.render.markdown.early import Margin, cut_list, cut_paragraph, item_margins
from terp_cli.render.markdown.formulas import block_opening, may_be_open
from terp_cli.render.markdown.grammar import parse, words
from terp_cli.render.markdown.inline import inline
from terp_cli.render.markdown.tables import GrowingTable

_MAY_START_BLOCK = re.compile(r" {0,3}([-+*>#|=_~`]|\d{1,9}[.)])|.*\||\s*\Z| {4}|\t")
_LIST_ITEM = re.compile(r" {0,3}([-+*]|\d{1,9}[.)])(\s|\Z)")
_TABLE_RULE = re.compile(r" {0,3}(?=.*\|)[-:| \t]+")
# A block larger than this, which could not be finished in part, is parsed again only after it has
# grown by a quarter: so the work stays in proportion to the text.
LARGE = 2_000


class WaitingLines:
    """Whole lines in order, none of them blank at the beginning. `size` counts their characters."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.size = 0
        self._parse_at = 0

    def add(self, line: str) -> None:
        """Append a line."""
        if not self.lines and not line.strip():
            return
        self.lines.append(line)
        self.size += len(line) + 1

    def keep(self, lines: list[str]) -> None:
        """Keep only these lines."""
        while lines and not lines[0].strip():
            lines = lines[1:]
        self.lines = lines
        self.size = sum(len(line) + 1 for line in lines)

    def pop(self) -> str:
        """Remove and return the last line."""
        *lines, last = self.lines
        self.keep(lines)
        return last

    def parsed(self, more: int = 0, *, stuck: bool = False) -> None:
        """Note that the lines, and so many characters more, were parsed.

        `stuck`: they are too many, and none could be finished; one more does not change that.
        """
        size = self.size + more
        self._parse_at = size * 5 // 4 if stuck or size > LARGE else 0

    def is_due(self, more: int = 0) -> bool:
        """Return True if the lines, and so many characters more, should be parsed again."""
        return self.size + more >= self._parse_at

    def may_end_block(self, line: str) -> bool:
        """Return True if `line`, the newest, may begin another block and so complete the one before."""
        if not _MAY_START_BLOCK.match(line) or self._begins_or_is_inside(line):
            return False
        # Another item, quoted line or row of a table continues its block.
        same = len(self.lines) > 1 and self.lines[-2].strip() != "" and line[:1] == self.lines[0][:1]
        return not (same and line[:1] in "-*+>|" and (line[:1] in ">|" or line[1:2] == " "))

    def _begins_or_is_inside(self, line: str) -> bool:
        """Return True if a line is the first, or is indented as a part of the first item."""
        if not line.strip():
            return False
        item = _LIST_ITEM.match(self.lines[0])
        return len(self.lines) == 1 or (item is not None and line[: item.end()].isspace())

    def rows_at_least(self, partial: str, width: int) -> int:
        """Return the least number of rows of the lines and the beginning of another one."""
        rows = (self.size + len(partial)) // width
        if self.in_list:
            return max(len(self.lines), rows)
        return rows if not self.lines or self.lines[0].lstrip()[:1].isalnum() else len(self.lines)

    @property
    def ended(self) -> bool:
        """True if the last line is blank, or there is none."""
        return not self.lines or not self.lines[-1].strip()

    @property
    def in_list(self) -> bool:
        """True if the lines begin with an item of a list."""
        return bool(self.lines) and is_item(self.lines[0])

    @property
    def in_table(self) -> bool:
        """True if the lines look like a table."""
        return len(self.lines) > 1 and _TABLE_RULE.fullmatch(self.lines[1]) is not None

    @property
    def in_formula(self) -> bool:
        """True if the lines may contain an open formula."""
        return may_be_open("\n".join(self.lines))


def is_item(line: str) -> bool:
    """Return True if a line begins an item of a list."""
    return _LIST_ITEM.match(line) is not None


class Margins:
    """The lists in which the next line is nested; false outside of lists."""

    def __init__(self) -> None:
        self._levels: list[Margin] = []

    def __bool__(self) -> bool:
        return bool(self._levels)

    @property
    def source(self) -> int:
        """The indentation of a line of the innermost item, in characters."""
        return self._levels[-1].source if self._levels else 0

    @property
    def cells(self) -> int:
        """The indentation of a row, in cells."""
        return self._levels[-1].cells if self._levels else 0

    def nest(self, margins: Sequence[Margin]) -> None:
        """Enter further lists, the outermost of them first."""
        source, cells = self.source, self.cells
        self._levels += [Margin(source + more.source, cells + more.cells) for more in margins]

    def leave(self, indent: int) -> None:
        """Leave the lists to which a line with this indentation does not belong."""
        while indent < self.source:
            self._levels.pop()

    def clear(self) -> None:
        """Leave all lists."""
        self._levels.clear()

    def inside(self, line: str) -> str:
        """Return a line without the indentation of the innermost item."""
        return dedented(line, self.source)

    def indented(self, rows: Sequence[Text]) -> list[Text]:
        """Return rows of the innermost item with their indentation."""
        if not self._levels:
            return list(rows)
        space = Text(" " * self.cells)
        return [space + row if row.plain else row for row in rows]


def dedented(line: str, by: int) -> str:
    """Return a line without at most so many leading spaces."""
    return line[min(by, len(line) - len(line.lstrip(" "))) :]


class Rest:
    """The join of the next block to one that was cut; false without a partial row.

    `number` is that of the next item, if an ordered list was cut.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._row: tuple[Text, str] | None = None

    def __bool__(self) -> bool:
        return self._row is not None

    def begin(self, row: Text, join: str) -> None:
        """Continue a paragraph in `row`, after `join`."""
        self._row = (row, join)

    def clear(self) -> None:
        """Begin a new block."""
        self.number = self._row = None

    def row(self) -> list[Text]:
        """The row that has not ended."""
        return [self._row[0]] if self._row else []

    def take(self) -> list[Text]:
        """Return the row that has not ended, and end it."""
        rows, self._row = self.row(), None
        return rows

    def drawn(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """Return the rows of the next block."""
        if node.type == "paragraph":
            return self.paragraph(node, width)
        if self.number is not None and node.type == "ordered_list":
            node.attrs["start"] = self.number
        return [*self.row(), *blocks.block(node, width)]

    def paragraph(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        """Return the rows of the next block, which is a paragraph."""
        text = inline(node.children[0])
        return wrapped(Text.assemble(*self._row, text) if self._row else text, width)


# Hidden until the line continues: the start of a fence, or an underline that may be a list item.
# The beginning of a line that may yet be a fence, or the line under a heading.
_UNDECIDED = re.compile(r"\s*(`{1,2}|`{3,}.*|~{3,}.*|[-=]+\s*)\Z")
# A block with more rows is finished in part.
_TALL = 12
# Rows by which a block may grow before it is looked at again.
_GROWTH = 4
# A complete table has the best widths; most are no longer than two tails.
_TABLE_PATIENCE = 2
# A blank line does not end these.
_MAY_GO_ON = ("bullet_list", "ordered_list", "code_block")
# A larger block counts as plain text, and is shown as it is written.
_HUGE = 8_000


class ProseBlocks:
    """Blocks that wait for their end; at most one of them is partly drawn."""

    def __init__(
        self, width: Callable[[], int], tail_rows: Callable[[], int], *, ascii_only: bool = False
    ) -> None:
        self._ascii_only = ascii_only
        self._full_width = width
        self._columns = width()
        self._tail_rows = tail_rows
        self._waiting = WaitingLines()
        self._references: dict[str, Any] = {}
        self._margins = Margins()
        self._rest = Rest()
        self._table: GrowingTable | None = None
        self._started = False
        self._joined = False
        self._before = ""
        self._after_blank = False

    @property
    def in_list(self) -> bool:
        """True if the next line may belong to an item of a list."""
        return bool(self._margins) or self._waiting.in_list

    @property
    def in_formula(self) -> bool:
        """True if the next line may belong to a formula."""
        return self._waiting.in_formula

    def goes_on_with(self, line: str) -> bool:
        """Return True if `line` can only continue the last block, a paragraph."""
        begun = not self._waiting.ended and not self._waiting.lines[-1].startswith("#")
        if not begun or self._table or not line.strip() or is_item(line):
            return False
        # A line that cannot end a paragraph continues it.
        after = parse(["text", line], {})
        return len(after) == 1 and after[0].type == "paragraph" and not block_opening(line.strip())

    @property
    def indent(self) -> int:
        """The indentation of a row of a list's item, in cells."""
        return self._margins.cells

    def line(self, line: str) -> list[Text]:
        """Return the rows that a complete line finished."""
        rows = self._leave_margins(line) if self._margins and line.strip() else []
        self._after_blank = not line.strip()
        line = self._margins.inside(line)
        if self._table:
            if (more := self._table.row(line)) is not None:
                return rows + self._margins.indented(more)
            self._table = None
        self._waiting.add(line)
        if self._waiting.size > _HUGE:
            return rows + self._surrender()
        ends = self._waiting.is_due() and (self._too_tall() or self._waiting.may_end_block(line))
        return rows + self._settle() if ends else rows

    def interrupt(self, indent: int) -> list[Text]:
        """Finish all blocks before a fence that is indented so far; returns a blank row last."""
        lines = self._waiting.lines
        nodes = self._parse(lines)
        rows = self.finish_blocks()
        self._table = None
        self._margins.leave(indent)
        if nodes:
            self._margins.nest(item_margins(nodes[-1], lines, indent - self._margins.source))
        return rows + self._gap()

    def shorten(self, partial: str) -> tuple[list[Text], str]:
        """Finish rows of a long paragraph whose last line is `partial`; return the rest of that line."""
        if self._waiting.size + len(partial) > _HUGE and not self._table:
            self._waiting.add(partial)
            return self._surrender(), ""
        due = self._waiting.is_due(len(partial)) and self._too_tall(partial)
        if self._table or not due:
            return [], partial
        nodes = self._parse([*self._waiting.lines, partial])
        if len(nodes) == 1 and nodes[0].type == "paragraph":
            rows = self._shorten_paragraph("\n".join([*self._waiting.lines, partial]))
            if rows:
                return rows, self._waiting.pop()
        self._waiting.parsed(len(partial))
        return [], partial

    def finish(self) -> list[Text]:
        """Return the rows of all waiting lines, at the end of the text."""
        rows = self.finish_blocks()
        self._margins.clear()
        self._table, self._started, self._joined = None, False, False
        self._before = ""
        self._references = {}
        return rows

    def finish_blocks(self) -> list[Text]:
        """Return the rows of all waiting lines, in the middle of the text."""
        rows: list[Text] = []
        for node in self._parse(self._waiting.lines):
            rows += self._emit(node)
        self._waiting.keep([])
        return rows + self._margins.indented(self._rest.take())

    def tail(self, partial: str, limit: int) -> list[Text]:
        """Return the last `limit` rows of the waiting lines and the incomplete line."""
        lines = self._waiting.lines
        if self._waiting.size > LARGE * 4:
            lines = "\n".join(lines)[-LARGE * 2 :].split("\n")
        if self._table:
            line = self._margins.inside(partial)
            return self._margins.indented(self._table.peek(line))[-limit:]
        if partial and not _UNDECIDED.fullmatch(partial):
            lines = [*lines, self._margins.inside(partial)]
        rows: list[Text] = []
        # A link defined by half a line must not be stored.
        references = {"references": dict(self._references.get("references", {}))}
        before = self._before
        for at, node in enumerate(parse(lines, references, ascii_only=self._ascii_only)):
            first = not at and (self._joined or self._rest or not self._started)
            if not (first or blocks.follows(before, node.type)):
                rows.append(Text())
            before = node.type
            drawn = blocks.block(node, self._width()) if at else self._rest.drawn(node, self._width())
            rows += self._margins.indented(drawn)
        return (rows or self._rest.row())[-limit:]

    def _width(self) -> int:
        if not (self._table or self._waiting.in_table):
            # The columns of a table stay as they are if the terminal changes its width.
            self._columns = self._full_width()
        return max(10, self._columns - self.indent)

    def _too_tall(self, partial: str = "") -> bool:
        patience = _TABLE_PATIENCE if self._waiting.in_table and not partial else 1
        # The first rows of a block without room on the screen would be hidden until its end.
        most = max(1, min(_TALL * patience, (self._tail_rows() or _TALL + _GROWTH) - _GROWTH))
        return self._waiting.rows_at_least(partial, self._width()) > most

    def _parse(self, lines: Sequence[str]) -> list[SyntaxTreeNode]:
        return parse(lines, self._references, ascii_only=self._ascii_only)

    def _settle(self) -> list[Text]:
        """Finish all blocks but the last, and the first part of the last if possible."""
        nodes = self._parse(self._waiting.lines)
        ended = self._waiting.ended
        if not nodes:
            self._waiting.keep([] if ended else self._waiting.lines)
            return []
        rows: list[Text] = []
        *done, last = nodes
        for node in done:
            rows += self._emit(node)
        if ended and last.type not in _MAY_GO_ON:
            rows += self._emit(last)
            self._waiting.keep([])
        else:
            self._waiting.keep(self._waiting.lines[_start(last) :] if done else self._waiting.lines)
            if self._too_tall():
                rows += self._early(last)
        self._waiting.parsed(stuck=not rows and self._too_tall())
        return rows

    def _surrender(self) -> list[Text]:
        """Return the rows of the waiting lines as plain text."""
        rows = self._settle()
        if self._waiting.size <= _HUGE:
            return rows
        rows += self._margins.indented(self._rest.take()) or self._gap()
        for line in self._waiting.lines:
            rows += self._margins.indented(wrapped(words(line), self._width()))
        self._waiting.keep([])
        self._waiting.parsed()
        self._joined = True
        return rows

    def _early(self, node: SyntaxTreeNode) -> list[Text]:
        match node.type:
            case "paragraph":
                return self._shorten_paragraph("\n".join(self._waiting.lines))
            case "bullet_list" | "ordered_list":
                return self._shorten_list()
            case "table":
                return self._begin_table()
            case "code_block" | "blockquote" if all(child.type != "fence" for child in node.walk()):
                return self._shorten_at(len(self._waiting.lines) - 1)
            case _:
                return []

    def _shorten_paragraph(self, source: str) -> list[Text]:
        cut = cut_paragraph(source)
        if cut is None:
            return []
        nodes = self._parse(source[: cut.end].split("\n"))
        if [node.type for node in nodes] != ["paragraph"]:
            # Parsed separately, the part would have another meaning.
            return []
        *rows, last = self._rest.paragraph(nodes[0], self._width())
        rows = [*([] if self._rest else self._gap()), *self._margins.indented(rows)]
        self._rest.begin(last, cut.join)
        self._waiting.keep(source[cut.end :].lstrip().split("\n"))
        return rows

    def _shorten_list(self) -> list[Text]:
        (node,) = self._parse(self._waiting.lines)
        cut = cut_list(node, self._waiting.lines)
        if cut is None:
            return []
        number = self._rest.number if self._rest.number is not None else int(node.attrs.get("start", 1))
        rows = self._shorten_at(cut.line)
        self._joined = not cut.loose
        if cut.margins:
            self._margins.nest(cut.margins)
            self._waiting.keep([dedented(line, cut.margins[-1].source) for line in self._waiting.lines])
        elif node.type == "ordered_list":
            self._rest.number = number + len(node.children) - 1
        return rows

    def _shorten_at(self, line: int) -> list[Text]:
        if line <= 0:
            return []
        rows: list[Text] = []
        for node in self._parse(self._waiting.lines[:line]):
            rows += self._emit(node)
        self._joined = True
        self._waiting.keep(self._waiting.lines[line:])
        return rows

    def _begin_table(self) -> list[Text]:
        """Return the rows so far; their widths stay, and further rows are finished one by one."""
        (node,) = self._parse(self._waiting.lines)
        self._table = GrowingTable(node, self._waiting.lines[:2], self._width(), self._parse)
        self._waiting.keep([])
        return [*self._gap(), *self._margins.indented(self._table.first_rows)]

    def _leave_margins(self, line: str) -> list[Text]:
        indent = len(line) - len(line.lstrip(" "))
        if indent >= self._margins.source:
            return []
        rows = self.finish_blocks()
        self._margins.leave(indent)
        self._joined = is_item(line.lstrip(" ")) and bool(rows) and not self._after_blank
        return rows

    def _emit(self, node: SyntaxTreeNode) -> list[Text]:
        self._joined = self._joined or blocks.follows(self._before, node.type)
        self._before = node.type
        gap = [] if self._rest else self._gap()
        rows = self._margins.indented(self._rest.drawn(node, self._width()))
        self._rest.clear()
        return gap + rows

    def _gap(self) -> list[Text]:
        blank = self._started and not self._joined
        self._started, self._joined = True, False
        return [Text()] if blank else []


def _start(node: SyntaxTreeNode) -> int:
    return node.map[0] if node.map else 0
