"""Copies of small files as they were before a turn wrote to them."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from .files import is_of_interest

if TYPE_CHECKING:
    from .checkpoints import Checkpoint

# A larger file is not copied; nor is one more when copies take so many bytes.
LARGEST, ROOM = 2_000_000, 32_000_000

# What a path was: ("file", content, mode), ("absent",) or ("not kept", why).
Copy = Any


class FileCopies:
    """Copies each file that a cell is about to write to, once in a turn."""

    def __init__(self) -> None:
        self.size = 0
        # States of the files after cells: a different state now means that another program has written.
        self.left: dict[str, Any] = {}

    def keep(self, checkpoint: Checkpoint, path: str) -> None:
        """Copy a file that is about to be written to, renamed or removed."""
        if path not in checkpoint.files and is_of_interest(path):
            checkpoint.files[path] = self.copy(path, checkpoint.began_ns)

    def copy(self, path: str, began_ns: int) -> Copy:
        """Copy the file as it was when the turn began.

        That fails if the turn has already written to it through an open file or a program.
        """
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return ("absent",)
        except (OSError, ValueError) as error:
            return ("not kept", str(error))
        if why := self.in_the_way(found, began_ns):
            return ("not kept", why)
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - see `files`
                content = file.read()
        except OSError as error:
            return ("not kept", error.strerror or "it cannot be read")
        self.size += len(content)
        return ("file", content, found.st_mode)

    def in_the_way(self, found: os.stat_result, began_ns: int) -> str:
        """Return the reason why a file is not copied; "" if it is."""
        if not stat.S_ISREG(found.st_mode):
            return "it is no plain file"
        if found.st_mtime_ns >= began_ns:
            return "the turn had written to it before it could be copied"
        if found.st_size > LARGEST:
            return f"{found.st_size / 1e6:,.0f} MB is too large to be kept"
        return "copies of other files use all the space" if self.size + found.st_size > ROOM else ""

    def end(self, checkpoint: Checkpoint, touched: Any) -> None:
        """Note the state in which a finished cell has left its files."""
        for path in touched:
            if path in checkpoint.files:
                self.left[path] = state(path)

    def drop(self, checkpoint: Checkpoint) -> None:
        """Drop the copies of a checkpoint."""
        self.size -= sum(len(copy[1]) for copy in checkpoint.files.values() if copy[0] == "file")
        checkpoint.files = {}

    def rows(self, undone: list[Checkpoint]) -> list[list[str]]:
        """Return each file written since, with the possible action, and the reason if it is "not".

        "put back", "remove", "same" or "not".
        """
        return [[path, *self.row(path, copy)] for path, copy in sorted(self.first(undone).items())]

    def first(self, undone: list[Checkpoint]) -> dict[str, Copy]:
        """Return the oldest copy of each file."""
        copies: dict[str, Copy] = {}
        for checkpoint in reversed(undone):
            copies.update(checkpoint.files)
        return copies

    def row(self, path: str, copy: Copy) -> tuple[str, str]:
        """Return the possible action on one file, and the reason if there is none."""
        now = state(path)
        if copy[0] == "not kept":
            return ("not", copy[1])
        if (copy[0] == "absent" and now is None) or (copy[0] == "file" and content(path) == copy[1]):
            return ("same", "")
        if now != self.left.get(path, now):
            return ("not", "something else has changed it since")
        return ("remove" if copy[0] == "absent" else "put back", "")

    def put_back(self, undone: list[Checkpoint], paths: list[str]) -> list[list[str]]:
        """Restore the files at `paths`; return for each "back", "removed", "same", "not" or "left"."""
        done = []
        for path, copy in sorted(self.first(undone).items()):
            can, why = self.row(path, copy)
            if can in ("put back", "remove") and path not in paths:
                can = "left"
            elif can in ("put back", "remove"):
                can, why = write(path, copy)
            done.append([path, can, why])
        for checkpoint in undone:
            self.drop(checkpoint)
        return done


def write(path: str, copy: Copy) -> tuple[str, str]:
    """Restore one path; return the result and the reason of a failure."""
    try:
        if copy[0] == "absent":
            os.remove(path)  # noqa: PTH107
            return ("removed", "")
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(copy[1])
        os.chmod(path, stat.S_IMODE(copy[2]))  # noqa: PTH101
    except OSError as error:
        return ("not", error.strerror or "it cannot be written")
    return ("back", "")


def state(path: str) -> Any:
    """Return size, time and inode, to detect a later write; None if there is no file."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (found.st_size, found.st_mtime_ns, found.st_ino)


def content(path: str) -> Any:
    """Return the content of a plain file; None if there is none."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except (OSError, ValueError):
        return None
