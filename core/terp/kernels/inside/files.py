"""Files and child processes, seen through audit events of Python.

pathlib would be slow in a hook that sees every file that is opened.
"""

from __future__ import annotations

import os
from typing import Any

from .home import Home
from .text import Pipes

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
SPAWNING = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "os.exec"}


class Touched:
    """Files that the cell opened for writing, renamed or removed, as they were before."""

    def __init__(self, home: Home, pipes: Pipes) -> None:
        self.home = home
        self.pipes = pipes
        self.before: dict[str, Any] = {}
        self.reported_cwd = cwd()
        # Called with a path before it is written to.
        self.watch: Any = None

    def audit(self, event: str, args: Any) -> None:
        """An audit hook: sees names that are computed at run time, also outside the working directory."""
        if event == "open":
            if self.home.in_cell and isinstance(args[2], int) and args[2] & WRITING:
                self.note(args[0])
        elif event in SPAWNING:
            self.pipes.spawned = True
        elif event == "os.rename" and self.home.in_cell:
            self.note(args[0])
            self.note(args[1])
        elif event in ("os.remove", "os.truncate") and self.home.in_cell:
            self.note(args[0])

    def begin(self) -> None:
        """A cell begins."""
        self.before = {}
        self.home.cwd = cwd()

    def moved_to(self) -> str:
        """Return the new working directory if it changed since the last report, else "".

        A cell or one of its threads has changed it.
        """
        now = cwd()
        if now == self.reported_cwd:
            return ""
        self.reported_cwd = now
        return now

    def note(self, path: Any) -> None:
        """Remember a path with its state before the cell touched it."""
        if isinstance(path, (str, bytes, os.PathLike)) and len(self.before) < 2000:
            name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100
            if name not in self.before:
                self.before[name] = None
                try:
                    state = os.stat(name)  # noqa: PTH116
                    self.before[name] = (state.st_size, state.st_mtime_ns, state.st_ino)
                except OSError:
                    pass
                if self.watch is not None:
                    self.watch(name)


def cwd() -> str:
    """The working directory; "" when it is gone."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""
