"""Lines of prose whose block has not ended, and what can be told of them without parsing."""

import re

from terp_cli.render.markdown.formulas import may_be_open

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
        """One more line."""
        if not self.lines and not line.strip():
            return
        self.lines.append(line)
        self.size += len(line) + 1

    def keep(self, lines: list[str]) -> None:
        """Only these are left."""
        while lines and not lines[0].strip():
            lines = lines[1:]
        self.lines = lines
        self.size = sum(len(line) + 1 for line in lines)

    def pop(self) -> str:
        """The last line, which is taken away."""
        *lines, last = self.lines
        self.keep(lines)
        return last

    def parsed(self, more: int = 0, *, stuck: bool = False) -> None:
        """They, and so many characters more, have just been parsed.

        `stuck`: they are too many, and none could be finished; one more does not change that.
        """
        size = self.size + more
        self._parse_at = size * 5 // 4 if stuck or size > LARGE else 0

    def is_due(self, more: int = 0) -> bool:
        """Whether they, and so many characters more, are worth being parsed again."""
        return self.size + more >= self._parse_at

    def may_end_block(self, line: str) -> bool:
        """Whether `line`, which is the last one, may have ended the block before it."""
        if not _MAY_START_BLOCK.match(line) or self._begins_or_is_inside(line):
            return False
        # Another item, quoted line or row of a table goes on with the block it follows.
        same = len(self.lines) > 1 and self.lines[-2].strip() != "" and line[:1] == self.lines[0][:1]
        return not (same and line[:1] in "-*+>|" and (line[:1] in ">|" or line[1:2] == " "))

    def _begins_or_is_inside(self, line: str) -> bool:
        """Whether a line is the first one, or indented as what belongs to the item that is."""
        if not line.strip():
            return False
        item = _LIST_ITEM.match(self.lines[0])
        return len(self.lines) == 1 or (item is not None and line[: item.end()].isspace())

    def rows_at_least(self, partial: str, width: int) -> int:
        """How many rows these lines and the beginning of another one will at least have."""
        if self.lines and not self.lines[0].lstrip()[:1].isalnum():
            return len(self.lines)
        return (self.size + len(partial)) // width

    @property
    def ended(self) -> bool:
        """Whether a blank line came last, or nothing waits."""
        return not self.lines or not self.lines[-1].strip()

    @property
    def in_list(self) -> bool:
        """Whether they begin with an item of a list."""
        return bool(self.lines) and is_item(self.lines[0])

    @property
    def in_table(self) -> bool:
        """Whether they look like a table."""
        return len(self.lines) > 1 and _TABLE_RULE.fullmatch(self.lines[1]) is not None

    @property
    def in_formula(self) -> bool:
        """Whether a formula may have begun that has not ended."""
        return may_be_open("\n".join(self.lines))


def is_item(line: str) -> bool:
    """Whether a line begins an item of a list."""
    return _LIST_ITEM.match(line) is not None
