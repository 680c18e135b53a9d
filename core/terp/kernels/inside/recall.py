"""`out`: outputs of earlier runs of the session, by their numbers.

    out[4].text                 all of it, however much was shown
    out[4].grep("error")        the lines that match, with their numbers
    out[4].head(20), .tail(20)  its first or last lines
    out[4].images               the paths of its pictures

`out` is a builtin as `len` is: a variable of the same name hides it. terp's process has the paths of the
files; they are read at the first access to their text.
"""

from __future__ import annotations

import builtins
import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
LONGEST_LINE = 1_000_000
LONGEST_REPR = 4_000
BLOCK = 1 << 16


class Excerpt(str):
    """Text whose repr is the text itself, truncated if long."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the text, truncated with a count of the omitted characters."""
        left = len(self) - LONGEST_REPR
        return str(self) if left <= 0 else f"{self[:LONGEST_REPR]}\n[… {left:,} more characters …]"


class Output:
    """The output of one run. Holds only its path; every access reads the file."""

    def __init__(self, number: int, found: Any) -> None:
        self.number = number
        self.path: str = found["path"]
        self.status: str = found["status"]
        self.language: str = found["language"]
        self.images: list[str] = list(found["images"])

    @property
    def text(self) -> Excerpt:
        """All text of the run, without escape sequences."""
        return Excerpt("".join(self._lines()))

    def head(self, lines: int = 20) -> Excerpt:
        """Return its first lines."""
        return Excerpt("".join(islice(self._lines(), lines)))

    def tail(self, lines: int = 20) -> Excerpt:
        """Return its last lines, reading the file from its end."""
        if not self.path or lines <= 0:
            return Excerpt("")
        with open(self.path, "rb") as file:  # noqa: PTH123
            at, end = file.seek(0, os.SEEK_END), b""
            while at and end.count(b"\n") <= lines:
                size = min(at, BLOCK)
                at = file.seek(at - size)
                end = file.read(size) + end
        text = ESCAPE.sub("", end.decode("utf-8", "replace"))
        return Excerpt("".join(deque(text.splitlines(keepends=True), lines)))

    def grep(self, pattern: str, most: int = 200) -> Excerpt:
        """Return the first `most` lines that match a regular expression, each with its number."""
        found = re.compile(pattern)
        numbered = enumerate(self._lines(), 1)
        hits = (f"{number}: {line.rstrip()}\n" for number, line in numbered if found.search(line))
        return Excerpt("".join(islice(hits, most)))

    def __len__(self) -> int:
        return len(self.text)

    def __repr__(self) -> str:
        """Describe it: run, size, status and methods."""
        asked = ".text .grep(pattern) .head(n) .tail(n) .images"
        try:
            size = f"{os.path.getsize(self.path) if self.path else 0:,} bytes"  # noqa: PTH202
        except OSError as error:
            size, asked = "not readable here", f"{self.path}: {error.strerror}"
        return f"<output of run {self.number}: {size}, {self.language} {self.status}; {asked}>"

    def _lines(self) -> Iterator[str]:
        if not self.path:
            return
        with open(self.path, encoding="utf-8", errors="replace", newline="") as file:  # noqa: PTH123
            while line := file.readline(LONGEST_LINE):
                yield ESCAPE.sub("", line)


class Outputs:
    """The outputs of the session's runs, by number; -1 is the last one."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __getitem__(self, number: int) -> Output:
        """Return the output of a run.

        Raises KeyError, with the existing numbers, if no finished run has this one.
        """
        if type(number) is not int:
            raise TypeError(f"out[…] takes the number of a run, not {type(number).__name__}")
        try:
            found = self._call("run_output", number=number)
        except RuntimeError as error:
            raise KeyError(str(error)) from None
        return Output(found["number"], found)

    def __repr__(self) -> str:
        """Return the usage."""
        return "<outputs of earlier runs: out[N].text .grep(pattern) .head(n) .tail(n) .images>"


def provide(call: Callable[..., Any]) -> None:
    """Add `out` to the builtins."""
    builtins.out = Outputs(call)  # type: ignore[attr-defined]
