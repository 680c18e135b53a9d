"""Titles of stored sessions that the user or the model gave: a file in the session's folder.

The log is append-only and its header has the first words of the conversation, which the title replaces.
"""

import os
from pathlib import Path

from terp.text.files import Refused, new_file, read_bounded

_FILE = "title"
_CHARS = 120
_LARGEST = 4_096


def read_title(folder: Path) -> str:
    """Return the title that was given to a session; "" if none was."""
    try:
        return read_bounded(folder / _FILE, _LARGEST).decode(errors="replace").strip()
    except Refused:
        return ""


def store_title(folder: Path, title: str) -> None:
    """Give a session a title; with "" it has the first words of its conversation again.

    Raises:
        OSError: the file cannot be written.
    """
    if not title:
        (folder / _FILE).unlink(missing_ok=True)
        return
    # A new file: a fork of the session has a hard link to the old one.
    with os.fdopen(new_file(folder / _FILE), "w", encoding="utf-8", errors="replace") as file:
        file.write(" ".join(title.split())[:_CHARS] + "\n")
