"""The output of a program, as lines that are safe to show.

A small state machine over the raw text. Colours become `Ink`; carriage returns, backspaces, tabs and
the sequences that move in a line, erase, or go up and down edit the rows that are still open, as
progress bars expect. Every other sequence is dropped, and every other control character spelled out.
The lines do not depend on how the text was cut.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from terp.text.dataclasses import dataclass, field, replace
from terp_cli.terminal.sanitise import readable

Colour = int | tuple[int, int, int] | None
"""An index of the 256 colours, red-green-blue, or None: the terminal's own."""


@dataclass(frozen=True, slots=True)
class Ink:
    """The colours and the style of a run of characters."""

    colour: Colour = None
    background: Colour = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    reverse: bool = False

    def after(self, parameters: str) -> "Ink":
        """Return the ink after the SGR sequence with these parameters ("" resets, as "0" does)."""
        ink = self
        # "4:3" (curly underline) and "38:2::1:2:3" are sub-parameters: one code with its arguments.
        codes = iter(parameters.split(";"))
        for code in codes:
            ink = ink._with(code, codes)
        # Text in the colour of its background is invisible, and would still be copied.
        if ink.colour is not None and ink.colour == ink.background:
            return replace(ink, background=None)
        return ink

    def _with(self, code: str, following: Iterator[str]) -> "Ink":
        head, _, sub = code.partition(":")
        if head in ("38", "48"):
            colour = _extended(iter(sub.replace("::", ":").split(":")) if sub else following)
            return self if colour is None else self._coloured(colour, ground=head == "48")
        if (head, sub) == ("4", "0"):
            return replace(self, underline=False)
        known = head.isascii() and (head.isdigit() or head == "") and len(head) <= 3
        return self._with_simple(int(head or "0")) if known else self

    def _with_simple(self, number: int) -> "Ink":
        tens, ones = divmod(number, 10)
        if number == 0:
            return Ink()
        if names := _SWITCHES.get(number):
            return replace(self, **dict.fromkeys(names, number < 20 or number == 21))
        if tens in (3, 4, 9, 10) and (ones < 8 or (ones == 9 and tens < 5)):
            colour = None if ones == 9 else ones + (8 if tens >= 9 else 0)
            return self._coloured(colour, ground=tens in (4, 10))
        return self

    def _coloured(self, colour: Colour, *, ground: bool) -> "Ink":
        return replace(self, background=colour) if ground else replace(self, colour=colour)


_SWITCHES = {
    1: ("bold",),
    2: ("dim",),
    3: ("italic",),
    4: ("underline",),
    7: ("reverse",),
    9: ("strike",),
    21: ("underline",),
    22: ("bold", "dim"),
    23: ("italic",),
    24: ("underline",),
    27: ("reverse",),
    29: ("strike",),
}


def _extended(arguments: Iterator[str]) -> Colour:
    kind = next(arguments, "")
    if kind == "5":
        (index,) = _bytes(arguments, 1) or (None,)
        return index
    if kind == "2":
        rgb = _bytes(arguments, 3)
        return (rgb[0], rgb[1], rgb[2]) if rgb else None
    return None


def _bytes(arguments: Iterator[str], count: int) -> list[int] | None:
    texts = [next(arguments, "") for _ in range(count)]
    if not all(text.isascii() and text.isdigit() and len(text) <= 3 for text in texts):
        return None
    numbers = [int(text) for text in texts]
    return numbers if all(number < 256 for number in numbers) else None


Run = tuple[str, Ink]
Line = tuple[Run, ...]

_LONGEST = 4_000
# One cell each: bars, boxes and the Latin script.
_NARROW = re.compile("[\x00-\x7f\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2500-\u259f\u2801-\u28ff]*")
_MARK: Run = ("┆ ", Ink(dim=True))


class ProgramRow:
    """A row of text in its colours, addressed by cells; `marked` if it was written to stderr."""

    def __init__(self, *, marked: bool = False) -> None:
        self.marked = marked
        self._runs: list[Run] = []
        self._length = 0
        self._beyond = 0

    def __bool__(self) -> bool:
        return bool(self._runs)

    @property
    def line(self) -> Line:
        """Return the present row, safe to show; the mark of stderr comes first."""
        line = tuple((readable(text), ink) for text, ink in self._runs)
        if self.marked and any(text.strip() for text, _ in line):
            line = (_MARK, *line)
        if self._beyond:
            return (*line, (f" … {self._beyond:,} more characters", Ink(dim=True)))
        return line

    def write(self, text: str, ink: Ink, column: int) -> int:
        """Overwrite the row from a column on; return the column after the text."""
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
    """Return the cells of `text` on a terminal that joins no characters."""
    if text.isascii() or _NARROW.fullmatch(text):
        return len(text)
    return sum(map(_cells_of, text))


@lru_cache(maxsize=4096)
def _cells_of(character: str) -> int:
    from rich.cells import get_character_cell_size  # noqa: PLC0415  (only for output that is not ASCII)

    return 1 if character.isascii() else max(0, get_character_cell_size(character))


def _cut(runs: list[Run], start: int, end: int, *, taken: bool = True) -> list[Run]:
    """Return the cells from `start` to `end`; half of a wide character becomes a space.

    A character without width belongs to the cell before it; `taken`: this cell is within the cut.
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
    """Return the cells of one run, its width, and True if its last character was taken."""
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


_CSI = re.compile(r"\x1b\[([0-?]{0,64})[ -/]{0,4}([@-~])")
_SHORT = re.compile(r"\x1b[ -/]{0,4}[0-OQ-WYZ`-~]")
_UNFINISHED = re.compile(r"\x1b(\[[0-?]{0,64}[ -/]{0,4}|[ -/]{0,4})?\Z")
_SPECIAL = re.compile(r"[\x1b\r\b\n\t]")
# A string (title, link, clipboard, picture) ends at BEL or ST; a new escape, CAN or SUB abort it, and
# so does a line's end: a terminal would drop everything after an unfinished one.
_STRING_END = re.compile(r"[\x07\x18\x1a\n]|\x1b\\?")
_FARTHEST = 400
"""A program that writes beyond this column hides its text."""


@dataclass(slots=True)
class _Writer:
    """The open state of a program's stream, stderr if `is_error`: a sequence, a string, a colour."""

    is_error: bool
    held: str = ""
    in_string: bool = False
    ink: Ink = field(default_factory=Ink)


class ProgramText:
    """Reader of output, piece by piece; returns finished lines and keeps those that may still change.

    The last `window` lines stay open for a program that goes up again; without one, only the line
    being written is. The two streams of a program share the rows; each row belongs to one of them.
    """

    def __init__(self, window: int = 0) -> None:
        self._window = window
        self._writers = (_Writer(False), _Writer(True))
        self.clear()

    @property
    def open_lines(self) -> list[Line]:
        """Return the lines that may still change, without an empty last one."""
        rows = self._rows if self._rows[-1] else self._rows[:-1]
        return [row.line for row in rows]

    def feed(self, text: str, *, is_error: bool = False) -> list[Line]:
        """Return the lines that `text` finished; `is_error`: it was written to stderr."""
        writer = self._writers[is_error]
        text, writer.held = writer.held + text, ""
        lines: list[Line] = []
        at = 0
        while at < len(text):
            at = _skip_string(writer, text, at) if writer.in_string else self._step(writer, text, at, lines)
            if writer.held:
                break
        return lines

    def finish(self) -> list[Line]:
        """Return the remaining lines, and begin a new text."""
        lines: list[Line] = []
        for writer in self._writers:
            if writer.held and not writer.in_string:
                self._write(writer, writer.held, lines)
        lines += self.open_lines
        self._writers = (_Writer(False), _Writer(True))
        self.clear()
        return lines

    def clear(self) -> None:
        """Drop the lines that may still change."""
        self._rows, self._at, self._column = [ProgramRow()], 0, 0

    def _step(self, writer: _Writer, text: str, at: int, lines: list[Line]) -> int:
        found = _SPECIAL.search(text, at)
        end = found.start() if found else len(text)
        if end > at:
            self._write(writer, text[at:end], lines)
        if found is None:
            return end
        match found.group():
            case "\n":
                self._own(writer, lines)
                self._down(lines)
            case "\r":
                self._column = 0
            case "\b":
                self._column = max(0, self._column - 1)
            case "\t":
                self._column = min(self._column // 8 * 8 + 8, _FARTHEST * 8)
            case _:
                return self._escape(writer, text, end, lines)
        return found.end()

    def _write(self, writer: _Writer, text: str, lines: list[Line]) -> None:
        self._own(writer, lines)
        self._column = self._rows[self._at].write(text, writer.ink, self._column)

    def _own(self, writer: _Writer, lines: list[Line]) -> None:
        """Ensure that the row at the cursor is one of this stream; keep a row of the other stream."""
        row = self._rows[self._at]
        if row and row.marked != writer.is_error:
            self._at = len(self._rows) - 1
            if self._rows[self._at]:
                self._down(lines)
            self._column = 0
            row = self._rows[self._at]
        row.marked = writer.is_error

    def _down(self, lines: list[Line]) -> None:
        self._at += 1
        self._column = 0
        if self._at == len(self._rows):
            self._rows.append(ProgramRow())
        while len(self._rows) > self._window + 1:
            lines.append(self._rows.pop(0).line)
            self._at = max(0, self._at - 1)

    def _escape(self, writer: _Writer, text: str, at: int, lines: list[Line]) -> int:
        if _UNFINISHED.match(text, at):
            writer.held = text[at:]
            return len(text)
        if sequence := _CSI.match(text, at):
            if sequence[2] == "m" and not sequence[1].startswith((">", "?", "<", "=")):
                writer.ink = writer.ink.after(sequence[1])
            else:
                self._move(sequence[2], sequence[1])
            return sequence.end()
        if text[at + 1] in "]PX^_":
            writer.in_string = True
            return at + 2
        if sequence := _SHORT.match(text, at):
            return sequence.end()
        self._write(writer, "\x1b", lines)
        return at + 1

    def _move(self, kind: str, argument: str) -> None:
        """Move in the open rows or erase in them; drop all other sequences."""
        count = max(1, int(argument)) if argument.isdigit() and len(argument) < 5 else 1
        match kind:
            case "A" | "F":
                self._at = max(0, self._at - count)
            case "B" | "E":
                self._at = min(len(self._rows) - 1, self._at + count)
            case "C":
                self._column = self._column + count if self._column + count <= _FARTHEST else self._column
            case "D":
                self._column = max(0, self._column - count)
            case "G":
                self._column = count - 1 if count <= _FARTHEST else self._column
            case "K":
                self._rows[self._at].erase(argument, self._column)
            case "J" if argument in ("", "0"):
                self._rows[self._at].erase("", self._column)
                del self._rows[self._at + 1 :]
        if kind in "EF":
            self._column = 0


def _skip_string(writer: _Writer, text: str, at: int) -> int:
    end = _STRING_END.search(text, at)
    if end is None:
        return len(text)
    if end.group() == "\x1b" and end.end() == len(text):
        writer.held = "\x1b"
        return len(text)
    writer.in_string = False
    return end.start() if end.group() in ("\n", "\x1b") else end.end()
