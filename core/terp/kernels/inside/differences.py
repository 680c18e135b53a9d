"""The changes of a cell to text files, as unified diffs."""

from __future__ import annotations

import os
from typing import Any

from .file_copies import content
from .files import is_of_interest

# A larger file is compared by its size only; more files and longer diffs are not reported.
LARGEST, MOST_FILES, LONGEST = 200_000, 50, 20_000


class TextDifferences:
    """Compares text files that the cell opened for writing with what they held before."""

    def __init__(self) -> None:
        self.before: dict[str, str] = {}

    def begin(self) -> None:
        """Reset the state for a new cell."""
        self.before = {}

    def keep(self, path: str) -> None:
        """Remember the text of a file that is about to be written to."""
        if len(self.before) < MOST_FILES and is_of_interest(path):
            text = text_of(path)
            if text is not None:
                self.before[path] = text

    def rows(self) -> list[list[Any]]:
        """Return path, added and removed lines, and diff of each text file that is different now."""
        rows: list[list[Any]] = []
        for path, before in self.before.items():
            after = text_of(path)
            if after is None or after == before:
                continue
            lines = hunks_of(before, after)
            plus = sum(line.startswith("+") for line in lines)
            minus = sum(line.startswith("-") for line in lines)
            diff = "\n".join(lines)
            rows.append([path, plus, minus, diff if len(diff) <= LONGEST else ""])
        return rows


def text_of(path: str) -> str | None:
    """Return the text of a small plain file in UTF-8; None for any other."""
    try:
        if os.stat(path).st_size > LARGEST:  # noqa: PTH116 - see `files`
            return None
        data = content(path)
        return None if data is None or b"\0" in data else data.decode()
    except (OSError, ValueError):
        return None


def hunks_of(before: str, after: str) -> list[str]:
    """Return the hunks of a unified diff, with two lines around each change."""
    import difflib  # noqa: PLC0415 - most cells change no text file

    return list(difflib.unified_diff(lines_of(before), lines_of(after), n=2, lineterm=""))[2:]


def lines_of(text: str) -> list[str]:
    """Return the lines of a text as a diff shows them."""
    *lines, last = text.replace("\r", "␍").split("\n")
    return [*lines, f"{last} [no line end]"] if last else lines
