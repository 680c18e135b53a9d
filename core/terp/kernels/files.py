"""Files that a run created, changed or deleted, found without asking the model."""

import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from terp.kernels.rundir import PREFIX
from terp.outputs import FileChange

# Directories whose content is nobody's result.
_SKIPPED = frozenset(
    """
    .git .hg .svn .venv venv node_modules __pycache__ site-packages .mypy_cache .pytest_cache .ruff_cache
    .ipynb_checkpoints .cache .tox .nox
    """.split()  # noqa: SIM905 - a table of names, to be read
)
_DEVICES = ("/dev/", "/proc/", "/sys/")
# CPU time of one look: a loaded machine must not make it blind.
_MOST_CPU_S = 0.02
_MOST_CHANGES = 500
# File systems stamp with a clock that ticks every few milliseconds.
_CLOCK_SLACK_NS = 20_000_000
_STANDARD_STREAMS = (1, 2)

State = tuple[int, int, int]
"""Size, time of the last change of the content in ns, inode."""


@dataclass(frozen=True, slots=True)
class _File:
    state: State
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class _Look:
    """What was seen below some directories: the files, and the directories that were read."""

    files: dict[str, _File] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)


class FileWatch:
    """Compares the directory in which a kernel is started before and after its runs.

    The look after a run is the look before the next one. What happened in between is told apart by
    the time of the change. Trees with many files are seen only in their upper levels; what the kernel itself
    opened for writing (`touched`) is found anywhere, and nothing else is outside that directory, where other
    programs may be at work. What terp itself writes while code runs is nobody's result: its redirected
    stdout and stderr, `own_files`, and all below `own_folders`.
    """

    def __init__(
        self, most_files: int = 5_000, own_files: Sequence[str] = (), own_folders: Sequence[str] = ()
    ) -> None:
        self._most_files = most_files
        self._own_files = own_files
        self._own_folders = tuple({each for folder in own_folders for each in _spellings(folder)})
        self._root = self._cwd = ""
        self._before = _Look()

    def look(self, root: str) -> None:
        """See the directory as it is before the first run of a kernel."""
        self._root = self._cwd = root
        self._before = _look([root], self._most_files)

    def changes(
        self, started_ns: int, touched: Mapping[str, State | None], cwd: str = ""
    ) -> tuple[FileChange, ...]:
        """What changed since `started_ns`, sorted by path.

        `touched` are paths with their state before the run touched them (None: not there); `cwd`
        is where the run has left the kernel.
        """
        before, since = self._before, started_ns - _CLOCK_SLACK_NS
        self._cwd = cwd or self._cwd
        # A directory deep below is looked at first of all where the code works in it.
        below = Path(self._cwd).is_relative_to(self._root)
        after = _look([self._root, self._cwd] if below else [self._root], self._most_files)
        self._before = after
        changed = [
            *_written(before, after, touched, since),
            *_deleted(before, after, since),
            *_touched_elsewhere(after, touched, since),
        ]
        own = set(_identities((*_STANDARD_STREAMS, *self._own_files)))
        theirs = {
            one
            for one in changed
            if (one.path in touched or own.isdisjoint(_identities([one.path])))
            and not one.path.startswith(self._own_folders)
        }
        found = sorted(theirs, key=lambda change: change.path)
        return tuple(_with_moves(found, before, after))[:_MOST_CHANGES]


def _written(
    before: _Look, after: _Look, touched: Mapping[str, State | None], since: int
) -> Iterator[FileChange]:
    for path, file in after.files.items():
        if file.ctime_ns < since:
            continue
        old = before.files.get(path)
        if path in touched:
            yield _change(path, file, existed=touched[path] is not None)
        elif old is None:
            yield _change(path, file, existed=False)
        elif old.state != file.state:
            yield _change(path, file, existed=True)


def _with_moves(changes: Sequence[FileChange], before: _Look, after: _Look) -> Iterator[FileChange]:
    """The changes; a file that went and one that came as it was are one that was moved."""
    gone = {
        before.files[one.path].state: one.path
        for one in changes
        if one.action == "deleted" and one.path in before.files
    }
    sources = {
        one.path: gone.pop(after.files[one.path].state)
        for one in changes
        if one.action == "created" and one.path in after.files and after.files[one.path].state in gone
    }
    moved = frozenset(sources.values())
    for one in changes:
        if one.path in sources:
            yield FileChange(one.path, "moved", one.size, source=sources[one.path])
        elif one.path not in moved:
            yield one


def _deleted(before: _Look, after: _Look, since: int) -> Iterator[FileChange]:
    for path in before.files.keys() - after.files.keys():
        parent = os.path.dirname(path)  # noqa: PTH120 - this is done for every missing file
        if parent not in after.directories and Path(parent).exists():
            continue
        try:
            if Path(parent).stat().st_ctime_ns < since:
                continue
        except OSError:
            pass
        if not os.path.lexists(path):
            yield FileChange(path, "deleted")


def _touched_elsewhere(after: _Look, touched: Mapping[str, State | None], since: int) -> Iterator[FileChange]:
    for path, old in touched.items():
        if path in after.files or not _is_of_interest(path, after.directories):
            continue
        file = _file(path)
        if file is None:
            if old is not None and not os.path.lexists(path):
                yield FileChange(path, "deleted")
        elif file.ctime_ns >= since:
            yield _change(path, file, existed=old is not None)


def _spellings(folder: str) -> Iterator[str]:
    """How the paths below a folder begin."""
    for path in (Path(folder).absolute(), Path(folder).resolve()):
        yield f"{path}{os.sep}"


def _identities(files: Iterable[int | str]) -> Iterator[tuple[int, int]]:
    for file in files:
        with suppress(OSError):
            found = os.stat(file)  # noqa: PTH116 - a descriptor is no path
            yield found.st_dev, found.st_ino


def _change(path: str, file: _File, *, existed: bool) -> FileChange:
    return FileChange(path, "modified" if existed else "created", file.state[0])


def _is_of_interest(path: str, directories: set[str]) -> bool:
    if path.startswith(_DEVICES):
        return False
    name = Path(path)
    parents = {str(parent) for parent in name.parents}
    if any(part.startswith(PREFIX) for part in name.parts[:-1]):
        # What goes when terp ends is no result; `Leftovers` tells of it.
        return False
    if parents & directories:
        return not any(part in _SKIPPED for part in name.parts)
    return not any(part in _SKIPPED or part.startswith(".") for part in name.parts[:-1])


def _file(path: str) -> _File | None:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return _of(found) if stat.S_ISREG(found.st_mode) else None


def _of(found: os.stat_result) -> _File:
    return _File((found.st_size, found.st_mtime_ns, found.st_ino), found.st_ctime_ns)


def _look(roots: Sequence[str], most_files: int) -> _Look:
    look = _Look()
    waiting = deque(dict.fromkeys(roots))
    deadline = time.thread_time() + _MOST_CPU_S
    while waiting and len(look.files) < most_files and time.thread_time() < deadline:
        directory = waiting.popleft()
        if directory in look.directories:
            continue
        try:
            with os.scandir(directory) as entries:
                waiting.extend(_read(entries, look))
            look.directories.add(directory)
        except (OSError, ValueError):
            continue
    return look


def _read(entries: Iterator["os.DirEntry[str]"], look: _Look) -> list[str]:
    """Add the files of a directory to the look; its subdirectories, none for a virtual environment."""
    below: list[str] = []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            # Other programs write to hidden directories all the time, and terp to its own.
            if entry.name not in _SKIPPED and not entry.name.startswith((".", PREFIX)):
                below.append(entry.path)
        elif entry.name == "pyvenv.cfg":
            return []
        elif entry.is_file(follow_symlinks=False):
            look.files[entry.path] = _of(entry.stat(follow_symlinks=False))
    return below
