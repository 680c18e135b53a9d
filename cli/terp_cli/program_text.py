"""What a program wrote, as lines that are safe to show.

A small state machine over the raw text. Colours become `Ink`; carriage returns, backspaces and
"erase line" edit the current line, as progress bars expect; every other sequence is dropped, and
every other control character spelled out. The lines do not depend on how the text was cut.
"""

import re
from collections.abc import Sequence

from terp_cli.ink import Ink
from terp_cli.sanitise import readable

Run = tuple[str, Ink]
Line = tuple[Run, ...]

_CSI = re.compile(r"\x1b\[([0-?]{0,64})[ -/]{0,4}([@-~])")
_SHORT = re.compile(r"\x1b[ -/]{0,4}[0-OQ-WYZ`-~]")
_UNFINISHED = re.compile(r"\x1b(\[[0-?]{0,64}[ -/]{0,4}|[ -/]{0,4})?\Z")
_SPECIAL = re.compile(r"[\x1b\r\b\n]")
# A string (title, link, clipboard, picture) ends at BEL or ST; a new escape, CAN or SUB abort it, and
# so does a line's end: a terminal would swallow everything after an unfinished one.
_STRING_END = re.compile(r"[\x07\x18\x1a\n]|\x1b\\?")
_LONGEST_LINE = 4_000


class ProgramText:
    """Takes output piece by piece; hands out finished lines and shows the line being written."""

    def __init__(self) -> None:
        self._held = ""
        self._in_string = False
        self._ink = Ink()
        self._runs: list[Run] = []
        self._column = 0
        self._length = 0
        self._beyond = 0

    @property
    def line(self) -> Line:
        """The line that has no end yet."""
        return _safe(self._runs, self._beyond)

    def feed(self, text: str) -> list[Line]:
        """The lines that `text` finished."""
        text = self._held + text
        self._held = ""
        lines: list[Line] = []
        at = 0
        while at < len(text):
            at = self._skip_string(text, at) if self._in_string else self._step(text, at, lines)
            if self._held:
                break
        return lines

    def finish(self) -> list[Line]:
        """The last line, if it has no end; after this the text begins anew."""
        held, self._held = self._held, ""
        if held and not self._in_string:
            self._write(held)
        self._in_string = False
        self._ink = Ink()
        return [self._end_line()] if self._runs else []

    def clear(self) -> None:
        """Forget the line being written."""
        self._end_line()

    def _step(self, text: str, at: int, lines: list[Line]) -> int:
        found = _SPECIAL.search(text, at)
        if found is None:
            self._write(text[at:])
            return len(text)
        self._write(text[at : found.start()])
        match found.group():
            case "\n":
                lines.append(self._end_line())
            case "\r":
                self._column = 0
            case "\b":
                self._column = max(0, self._column - 1)
            case _:
                return self._escape(text, found.start())
        return found.end()

    def _escape(self, text: str, at: int) -> int:
        if _UNFINISHED.match(text, at):
            self._held = text[at:]
            return len(text)
        if sequence := _CSI.match(text, at):
            if sequence[2] == "m" and not sequence[1].startswith((">", "?", "<", "=")):
                self._ink = self._ink.after(sequence[1])
            elif sequence[2] == "K":
                self._erase(sequence[1])
            return sequence.end()
        if text[at + 1] in "]PX^_":
            self._in_string = True
            return at + 2
        if sequence := _SHORT.match(text, at):
            return sequence.end()
        self._write("\x1b")
        return at + 1

    def _skip_string(self, text: str, at: int) -> int:
        end = _STRING_END.search(text, at)
        if end is None:
            return len(text)
        if end.group() == "\x1b" and end.end() == len(text):
            self._held = "\x1b"
            return len(text)
        self._in_string = False
        return end.start() if end.group() in ("\n", "\x1b") else end.end()

    def _write(self, text: str) -> None:
        over = self._length - self._column
        if text and over > 0:
            self._overwrite(text[:over])
            text = text[over:]
        if not text:
            return
        room = max(0, _LONGEST_LINE - self._length)
        self._beyond += max(0, len(text) - room)
        self._append(self._runs, text[:room], self._ink)
        self._length += len(text[:room])
        self._column = self._length

    def _overwrite(self, text: str) -> None:
        runs = _cut(self._runs, 0, self._column)
        self._append(runs, text, self._ink)
        self._column += len(text)
        for kept, ink in _cut(self._runs, self._column, self._length):
            self._append(runs, kept, ink)
        self._runs = runs

    def _erase(self, mode: str) -> None:
        if mode in ("", "0"):
            self._runs = _cut(self._runs, 0, self._column)
        elif mode == "2":
            self._runs = []
            self._append(self._runs, " " * self._column, Ink())
        else:
            return
        self._length = self._column
        self._beyond = 0

    @staticmethod
    def _append(runs: list[Run], text: str, ink: Ink) -> None:
        if not text:
            return
        if runs and runs[-1][1] == ink:
            runs[-1] = (runs[-1][0] + text, ink)
        else:
            runs.append((text, ink))

    def _end_line(self) -> Line:
        line = _safe(self._runs, self._beyond)
        self._runs, self._column, self._length, self._beyond = [], 0, 0, 0
        return line


def _safe(runs: Sequence[Run], beyond: int) -> Line:
    line = tuple((readable(text), ink) for text, ink in runs)
    if beyond:
        return (*line, (f" … {beyond:,} more characters".replace(",", " "), Ink(dim=True)))
    return line


def _cut(runs: Sequence[Run], start: int, end: int) -> list[Run]:
    """Characters `start` to `end` of a line."""
    cut: list[Run] = []
    at = 0
    for text, ink in runs:
        part = text[max(0, start - at) : max(0, end - at)]
        if part:
            cut.append((part, ink))
        at += len(text)
    return cut
