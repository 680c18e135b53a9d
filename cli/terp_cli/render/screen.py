"""The one owner of the screen: appends rows and paints the tail below them.

What was appended is never touched again. The tail is at most `tail_rows` high; a new tail is compared
with the old one and only what follows the first difference is written, so a tail that becomes final
as it stands costs nothing.
"""

import re
from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

from rich.cells import cell_len
from rich.text import Text

from terp_cli.render.ansi import Palette, Row, encode
from terp_cli.render.fold import fold

Size = Callable[[], tuple[int, int]]
"""Columns and rows of the terminal, as they are now."""

# Characters whose width every terminal agrees on and that never join with a neighbour.
_CERTAIN = re.compile(
    "[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u2010-\u2027\u2500-\u259f"
    "\u2801-\u28ff\u3041-\u3096\u4e00-\u9fff]*"
)


class Screen(Protocol):
    """Where rows go. One object at a time draws on a terminal."""

    @property
    def width(self) -> int:
        """Cells of a row, at least 20."""

    @property
    def tail_rows(self) -> int:
        """How many rows a tail may have; 0 where nothing can be painted again."""

    def update(self, finished: Sequence[Text], tail: Sequence[Text] = ()) -> None:
        """Append `finished` for good, and show `tail` below in place of the last tail."""


class TerminalScreen:
    """A `Screen` on a terminal that moves its cursor, or with `live=False` only appends."""

    def __init__(
        self, out: TextIO, palette: Palette, size: Size, *, live: bool = True, synchronised: bool = False
    ) -> None:
        self._out = out
        self._palette = palette
        self._size = size
        self._live = live
        self._synchronised = synchronised
        self._tail: list[Row] = []
        self._tail_width = 0

    @property
    def width(self) -> int:
        """Cells of a row, at least 20."""
        return max(20, self._size()[0])

    @property
    def tail_rows(self) -> int:
        """At most 12, and four rows of what was said before stay in sight."""
        return max(1, min(self._size()[1] - 4, 12)) if self._live else 0

    def update(self, finished: Sequence[Text], tail: Sequence[Text] = ()) -> None:
        """Append `finished`, show `tail`; writes once, or not at all when nothing changed."""
        rows = [self._palette.row(text) for text in finished]
        final = len(rows)
        if self._live:
            # One row of a tail is one row of the screen, or moving up in it would miss.
            fitting = [row for text in tail for row in fold(text, self.width)]
            rows += [self._palette.row(text) for text in fitting[-self.tail_rows :]]
        painted = self._painted(rows, final)
        self._tail, self._tail_width = rows[final:], self.width
        if painted:
            if self._synchronised and len(rows) > final:
                painted = f"\x1b[?2026h{painted}\x1b[?2026l"
            self._out.write(painted)
            self._out.flush()

    def _painted(self, rows: list[Row], final: int) -> str:
        old = self._tail
        if old and self.width != self._tail_width:
            return self._up(self._height_now() - 1) + "\r\x1b[J" + self._appended(rows, 0, final)
        same = _common(old, rows, final)
        if same == len(old):
            return self._appended(rows, same, final, below=bool(old))
        start = self._up(len(old) - 1 - same)
        if same < len(rows):
            draw = encode if same < final else self._drawn
            rewritten = self._rewritten(start, old[same], rows[same], draw)
            return rewritten + self._appended(rows, same + 1, final, below=True)
        start += "\r\x1b[J"
        if same == final:
            return start
        return f"{start}\x1b[A\x1b[{max(1, _cells(rows[same - 1]))}C"

    def _rewritten(self, start: str, old: Row, new: Row, draw: Callable[[Row], str]) -> str:
        column, gone, rest = _difference(old, new)
        if start == "" and not gone:
            return draw(rest)
        if column >= self.width:
            # A cursor cannot be sent behind the last column.
            column, rest = 0, new
        to_column = f"\r\x1b[{column}C" if column else "\r"
        return f"{start}{to_column}\x1b[J{draw(rest)}"

    def _appended(self, rows: list[Row], start: int, final: int, *, below: bool = False) -> str:
        """Rows from `start` on; `below` tells that the cursor is at the end of the row above them."""
        parts: list[str] = []
        for at in range(start, len(rows)):
            if below:
                parts.append("\r\n")
            parts.append(encode(rows[at]) if at < final else self._drawn(rows[at]))
            below = True
        if below and final == len(rows):
            parts.append("\r\n")
        return "".join(parts)

    @staticmethod
    def _drawn(row: Row) -> str:
        # If the terminal takes a character for wider than we do, the row must not wrap: moving up
        # would then stop a row short. It is written whole when it becomes final.
        return encode(row) if _certain(row) else f"\x1b[?7l{encode(row)}\x1b[?7h"

    @staticmethod
    def _up(rows: int) -> str:
        return f"\x1b[{rows}A" if rows > 0 else ""

    def _height_now(self) -> int:
        """Rows of the tail after a resize: terminals that reflow break rows that became too long."""
        width = self.width
        return sum(max(1, -(-_cells(row) // width)) for row in self._tail)


def _common(old: list[Row], new: list[Row], final: int) -> int:
    """How many leading rows are on the screen already, as they have to be."""
    same = 0
    for before, after in zip(old, new, strict=False):
        if before != after or (same < final and not _certain(after)):
            break
        same += 1
    return same


def _difference(old: Row, new: Row) -> tuple[int, bool, Row]:
    """The column up to which two rows agree, whether the old one went on there, and what to write."""
    column = 0
    for at, (before, after) in enumerate(zip(old, new, strict=False)):
        if before == after and _is_certain(after[0]):
            column += cell_len(after[0])
            continue
        if before[1] != after[1]:
            return column, True, new[at:]
        cut = _shared(before[0], after[0])
        gone = cut < len(before[0]) or len(old) > at + 1
        return column + cell_len(after[0][:cut]), gone, ((after[0][cut:], after[1]), *new[at + 1 :])
    shared = min(len(old), len(new))
    if shared < len(new) and not _is_certain(new[shared][0][:1]):
        return 0, True, new
    return column, len(old) > shared, new[shared:]


def _shared(before: str, after: str) -> int:
    """How many leading characters two runs share, all of certain width, as are those that follow."""
    longest = min(len(before), len(after))
    cut = next((at for at in range(longest) if before[at] != after[at]), longest)
    certain = _CERTAIN.match(after, 0, cut)
    sure = certain.end() if certain else 0
    if sure < cut:
        return max(0, sure - 1)
    if not (_is_certain(before[cut : cut + 1]) and _is_certain(after[cut : cut + 1])):
        return max(0, cut - 1)
    return cut


def _is_certain(text: str) -> bool:
    return _CERTAIN.fullmatch(text) is not None


def _certain(row: Row) -> bool:
    return all(_is_certain(text) for text, _ in row)


def _cells(row: Row) -> int:
    return sum(cell_len(text) for text, _ in row)
