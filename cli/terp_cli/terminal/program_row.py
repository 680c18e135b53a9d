"""One row of what a program writes, which the program may still write over."""

import re
from functools import lru_cache

from terp_cli.terminal.ink import Ink
from terp_cli.terminal.sanitise import readable

Run = tuple[str, Ink]
Line = tuple[Run, ...]

_LONGEST = 4_000
# One cell each: what bars, boxes and the Latin script are made of.
_NARROW = re.compile("[\x00-\x7f\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2500-\u259f\u2801-\u28ff]*")
_MARK: Run = ("┆ ", Ink(dim=True))


class ProgramRow:
    """Text in its colours, addressed by the cells of a terminal; `marked` is what stderr got."""

    def __init__(self, *, marked: bool = False) -> None:
        self.marked = marked
        self._runs: list[Run] = []
        self._length = 0
        self._beyond = 0

    def __bool__(self) -> bool:
        return bool(self._runs)

    @property
    def line(self) -> Line:
        """The row as it stands, safe to show; the mark of stderr comes first."""
        line = tuple((readable(text), ink) for text, ink in self._runs)
        if self.marked and any(text.strip() for text, _ in line):
            line = (_MARK, *line)
        if self._beyond:
            return (*line, (f" … {self._beyond:,} more characters".replace(",", " "), Ink(dim=True)))
        return line

    def write(self, text: str, ink: Ink, column: int) -> int:
        """Write from a column on, over what is there; the column after it."""
        if not text:
            return column
        if column > self._length:
            space = min(column, _LONGEST) - self._length
            self._append(" " * space, Ink(), space)
        width = cells(text)
        if column < self._length:
            kept = _cut(self._runs, column + width, self._length, taken=False)
            self._runs = _cut(self._runs, 0, column)
            self._length = column
            self._append(text, ink, width)
            for piece, own in kept:
                self._append(piece, own, cells(piece))
        else:
            self._append(text, ink, width)
        return min(column + width, self._length)

    def erase(self, mode: str, column: int) -> None:
        """Erase from the column on, up to it, or all."""
        if mode in ("", "0"):
            self._runs = _cut(self._runs, 0, column)
            self._beyond = 0
        elif mode == "2":
            self._runs, self._beyond = [], 0
        elif mode == "1":
            kept = _cut(self._runs, column + 1, self._length, taken=False)
            self._runs = []
            self._length = 0
            if kept:
                self._append(" " * (column + 1), Ink(), column + 1)
            for piece, own in kept:
                self._append(piece, own, cells(piece))
        self._length = sum(cells(piece) for piece, _ in self._runs)

    def _append(self, text: str, ink: Ink, width: int) -> None:
        if self._length + width > _LONGEST:
            room = max(0, _LONGEST - self._length)
            fitting = "".join(piece for piece, _ in _cut([(text, ink)], 0, room))
            self._beyond += len(text) - len(fitting)
            text, width = fitting, cells(fitting)
        if not text:
            return
        if self._runs and self._runs[-1][1] == ink:
            self._runs[-1] = (self._runs[-1][0] + text, ink)
        else:
            self._runs.append((text, ink))
        self._length += width


def cells(text: str) -> int:
    """How many cells a terminal that knows no joined characters gives to `text`."""
    if text.isascii() or _NARROW.fullmatch(text):
        return len(text)
    return sum(map(_cells_of, text))


@lru_cache(maxsize=4096)
def _cells_of(character: str) -> int:
    from rich.cells import get_character_cell_size  # noqa: PLC0415  (only output that is not ASCII asks)

    return 1 if character.isascii() else max(0, get_character_cell_size(character))


def _cut(runs: list[Run], start: int, end: int, *, taken: bool = True) -> list[Run]:
    """The cells from `start` to `end`; half of a wide character is a space.

    What has no width belongs to the cell before it; `taken` tells whether that is so at the start.
    """
    cut: list[Run] = []
    at = 0
    for text, ink in runs:
        if at > end:
            break
        piece, width, taken = _cut_text(text, start - at, end - at, taken=taken)
        if piece:
            cut.append((piece, ink))
        at += width
    return cut


def _cut_text(text: str, start: int, end: int, *, taken: bool) -> tuple[str, int, bool]:
    """Cells of one run, its width, and whether the last character of it was taken."""
    if text.isascii() or _NARROW.fullmatch(text):
        width = len(text)
        return text[max(0, start) : max(0, end)], width, start < width <= end
    piece = ""
    at = 0
    for character in text:
        if width := _cells_of(character):
            inside = max(0, min(at + width, end) - max(at, start))
            taken = inside == width
            piece += character if taken else " " * inside
            at += width
        elif taken:
            piece += character
    return piece, at, taken
