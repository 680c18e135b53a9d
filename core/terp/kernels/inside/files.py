"""Files that a cell writes to, recorded by audit events of Python, and child processes that it starts.

For a kernel on another machine also: the files that a cell has changed, and transfers from and to terp in
base64. pathlib would be slow in a hook that sees every file that is opened.
"""

from __future__ import annotations

import base64
import hashlib
import os
import stat
import time
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
        """Note files that an audit event of Python names, in any directory."""
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
        """Reset the state for a new cell."""
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
    """Return the working directory; "" if it was deleted."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


# Directories that never contain results.
SKIPPED = {"__pycache__", "node_modules", "site-packages", "venv"}
# Limits of one scan: files, and CPU time in seconds.
MOST_FILES, MOST_S = 5_000, 0.02
MOST_ROWS = 500
# File systems stamp with a clock that ticks every few milliseconds.
SLACK_NS = 20_000_000
NOT_FILES = ("/dev/", "/proc/", "/sys/")

State = Any
"""Size, time of the last change of the content in ns, inode, and time of any change in ns."""


# Attachments that terp has copied here, with their states at that time: no cell has created them.
ATTACHED: dict[str, Any] = {}


class Changed:
    """Compares the working directory before and after a cell, and the files that the cell opened to write.

    The scan after a cell is the scan before the next one; changes in between are recognized by time stamps.
    """

    def __init__(self, touched: Touched) -> None:
        self.touched = touched
        self.root = cwd()
        self.before = look([self.root])[0]
        self.since = 0

    def begin(self) -> None:
        """Reset the state for a new cell."""
        self.since = time.time_ns() - SLACK_NS

    def rows(self) -> list[list[Any]]:
        """Return path, action and state (the last one if deleted) of each file that the cell has changed."""
        before = self.before
        self.before, seen = look([self.root, cwd()])
        paths = {path for path, state in self.before.items() if state[3] >= self.since}
        paths |= {path for path in before.keys() - self.before.keys() if folder_of(path) in seen}
        paths |= {path for path in self.touched.before if is_of_interest(path)}
        found = [self.row(path, before.get(path)) for path in sorted(paths)]
        return [row for row in found if row][:MOST_ROWS]

    def row(self, path: str, before: State) -> list[Any]:
        """Return path, action and state of one file; [] if it did not change."""
        old = self.touched.before.get(path, before)
        new = state_of(path)
        if new is None:
            return [path, "deleted", *old[:3]] if old and not os.path.lexists(path) else []
        if new[3] < self.since or (old and tuple(old[:3]) == new[:3]) or ATTACHED.get(path) == new[:3]:
            return []
        return [path, "modified" if old else "created", *new[:3]]


def is_of_interest(path: str) -> bool:
    """Return True if a written file may be a result: no device, nothing in a cache."""
    parts = folder_of(path).split("/")
    return not path.startswith(NOT_FILES) and not any(part[:1] == "." or part in SKIPPED for part in parts)


def look(roots: list[str]) -> Any:
    """Return the files below directories with their states, and the directories that were read."""
    files: dict[str, State] = {}
    seen: set[str] = set()
    waiting = [root for root in roots if root]
    deadline = time.thread_time() + MOST_S
    while waiting and len(files) < MOST_FILES and time.thread_time() < deadline:
        folder = waiting.pop(0)
        if folder in seen:
            continue
        try:
            with os.scandir(folder) as entries:
                waiting.extend(entry_into(files, entries))
            seen.add(folder)
        except (OSError, ValueError):
            continue
    return files, seen


def entry_into(files: dict[str, State], entries: Any) -> list[str]:
    """Add the files of a directory; return its subdirectories, none for a virtual environment."""
    below = []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name[:1] != "." and entry.name not in SKIPPED:
                below.append(entry.path)
        elif entry.name == "pyvenv.cfg":
            return []
        elif entry.is_file(follow_symlinks=False):
            state = entry.stat(follow_symlinks=False)
            files[entry.path] = state_in(state)
    return below


def state_of(path: str) -> State:
    """Return the state of a plain file; None for anything else."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return state_in(found) if stat.S_ISREG(found.st_mode) else None


def state_in(found: os.stat_result) -> State:
    """Return the state in a stat result."""
    return (found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns)


def folder_of(path: str) -> str:
    """Return the directory of a file."""
    return os.path.dirname(path)  # noqa: PTH120


def read(path: str, start: str, length: str) -> dict[str, Any]:
    """Return a chunk of a file in base64, or the error."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            file.seek(int(start))
            return {"piece": base64.b64encode(file.read(int(length))).decode()}
    except (OSError, ValueError) as error:
        return {"error": str(error)}


def write(what: str, name: str, given: str) -> dict[str, Any]:
    """Write a file into the working directory: "begin" it with its SHA-256, then "add" chunks.

    "begin" returns the new `path`, never that of another file, and as `there` if the same file exists.
    """
    try:
        if what == "begin":
            return create(os.path.basename(name), given)  # noqa: PTH119
        with open(name, "ab") as file:  # noqa: PTH123
            file.write(base64.b64decode(given))
        ATTACHED[name] = state_of(name)[:3]
    except (OSError, ValueError) as error:
        return {"error": str(error)}
    return {"path": name}


def create(name: str, digest: str) -> dict[str, Any]:
    """Create the file under its name or a numbered one."""
    stem, suffix = os.path.splitext(name)  # noqa: PTH122
    number = 1
    while True:
        path = os.path.abspath(name if number == 1 else f"{stem}-{number}{suffix}")  # noqa: PTH100
        if os.path.isfile(path) and digest_of(path) == digest:  # noqa: PTH113
            return {"path": path, "there": True}
        try:
            with open(path, "xb"):  # noqa: PTH123
                return {"path": path, "there": False}
        except FileExistsError:
            number += 1


def digest_of(path: str) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:  # noqa: PTH123
        for piece in iter(lambda: file.read(1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()
