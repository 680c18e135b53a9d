"""What a program wrote, as lines that are safe to show.

A small state machine over the raw text. Colours become `Ink`; carriage returns, backspaces, tabs and
the sequences that move in a line, erase, or go up and down edit the rows that are still open, as
progress bars expect. Every other sequence is dropped, and every other control character spelled out.
The lines do not depend on how the text was cut.
"""

import re
from dataclasses import dataclass, field

from terp_cli.terminal.ink import Ink
from terp_cli.terminal.program_row import Line, ProgramRow

_CSI = re.compile(r"\x1b\[([0-?]{0,64})[ -/]{0,4}([@-~])")
_SHORT = re.compile(r"\x1b[ -/]{0,4}[0-OQ-WYZ`-~]")
_UNFINISHED = re.compile(r"\x1b(\[[0-?]{0,64}[ -/]{0,4}|[ -/]{0,4})?\Z")
_SPECIAL = re.compile(r"[\x1b\r\b\n\t]")
# A string (title, link, clipboard, picture) ends at BEL or ST; a new escape, CAN or SUB abort it, and
# so does a line's end: a terminal would swallow everything after an unfinished one.
_STRING_END = re.compile(r"[\x07\x18\x1a\n]|\x1b\\?")
_FARTHEST = 400
"""A column farther to the right is not where a program writes, but where it hides something."""


@dataclass(slots=True)
class _Writer:
    """What one of a program's streams has begun and not ended: a sequence, a string, a colour."""

    held: str = ""
    in_string: bool = False
    ink: Ink = field(default_factory=Ink)


class ProgramText:
    """Takes output piece by piece; hands out finished lines and shows those that may still change.

    The last `window` lines stay open for a program that goes up again; without one, only the line
    being written is. The two streams of a program share the rows; each row belongs to one of them.
    """

    def __init__(self, window: int = 0) -> None:
        self._window = window
        self._writers = (_Writer(), _Writer())
        self._rows = [ProgramRow()]
        self._at = 0
        self._column = 0

    @property
    def open_lines(self) -> list[Line]:
        """The lines that may still change, without an empty last one."""
        rows = self._rows if self._rows[-1] else self._rows[:-1]
        return [row.line for row in rows]

    def feed(self, text: str, *, is_error: bool = False) -> list[Line]:
        """The lines that `text` finished; `is_error` tells that it was written to stderr."""
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
        """The lines that are left; after this the text begins anew."""
        lines: list[Line] = []
        for is_error, writer in enumerate(self._writers):
            if writer.held and not writer.in_string:
                self._write(writer, writer.held, lines, is_error=bool(is_error))
        lines += self.open_lines
        self._writers = (_Writer(), _Writer())
        self.clear()
        return lines

    def clear(self) -> None:
        """Forget the lines that may still change."""
        self._rows, self._at, self._column = [ProgramRow()], 0, 0

    def _step(self, writer: _Writer, text: str, at: int, lines: list[Line]) -> int:
        found = _SPECIAL.search(text, at)
        end = found.start() if found else len(text)
        if end > at:
            self._write(writer, text[at:end], lines, is_error=writer is self._writers[1])
        if found is None:
            return end
        match found.group():
            case "\n":
                self._own(lines, is_error=writer is self._writers[1])
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

    def _write(self, writer: _Writer, text: str, lines: list[Line], *, is_error: bool) -> None:
        self._own(lines, is_error=is_error)
        self._column = self._rows[self._at].write(text, writer.ink, self._column)

    def _own(self, lines: list[Line], *, is_error: bool) -> None:
        """Make the row at the cursor one of this stream; one of the other stream is left as it is."""
        row = self._rows[self._at]
        if row and row.marked != is_error:
            self._at = len(self._rows) - 1
            if self._rows[self._at]:
                self._down(lines)
            self._column = 0
            row = self._rows[self._at]
        row.marked = is_error

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
        self._write(writer, "\x1b", lines, is_error=writer is self._writers[1])
        return at + 1

    def _move(self, kind: str, argument: str) -> None:
        """Go up, down or along the open rows, or erase in them; everything else is dropped."""
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
