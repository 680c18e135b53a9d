"""Whether what programs of the person obey is as it was: not all of it can be held in its place.

What does not exist cannot be held, nor a link; Landlock holds nothing within a tree that can be written.
"""

import os
import stat
from collections.abc import Iterable
from itertools import islice

# A folder of hooks has fifteen; code can make as many as it likes.
_MOST_ENTRIES = 1_000
State = tuple[object, ...]


class Obeyed:
    """The places as they were when a kernel started, or when one was last told of."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._seen = {path: _state(path) for path in paths}

    def changed(self) -> list[str]:
        """Those that are other ones since then; each change is told once."""
        now = {path: _state(path) for path in self._seen}
        different = [path for path, state in now.items() if state != self._seen[path]]
        self._seen = now
        return different


def _state(path: str) -> State:
    """What tells a file from another one, or a folder with all that is at its top."""
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            return ("link", os.readlink(path))  # noqa: PTH115  (a path is text here)
        if not stat.S_ISDIR(found.st_mode):
            return ("file", found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode)
        with os.scandir(path) as entries:
            return (
                "folder",
                *sorted((entry.name, *_facts(entry)) for entry in islice(entries, _MOST_ENTRIES)),
            )
    except OSError:
        return ()


def _facts(entry: "os.DirEntry[str]") -> tuple[int, int, int]:
    found = entry.stat(follow_symlinks=False)
    return found.st_ino, found.st_size, found.st_mtime_ns
