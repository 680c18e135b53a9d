"""Files that a run created, changed or deleted, found without asking the model."""

import asyncio
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from terp.events.outputs import FileChange
from terp.kernels.jupyter.rundir import PREFIX, sweep
from terp.text.dataclasses import dataclass, field, replace

if TYPE_CHECKING:
    from terp.kernels.jupyter.run import KernelRun
    from terp.kernels.jupyter.running import RunningKernel

# Directories that never contain results.
_SKIPPED = frozenset(
    """
    .git .hg .svn .venv venv node_modules __pycache__ site-packages .mypy_cache .pytest_cache .ruff_cache
    .ipynb_checkpoints .cache .tox .nox
    """.split()  # noqa: SIM905 - a table of names, to be read
)
_DEVICES = ("/dev/", "/proc/", "/sys/")
# CPU time of one scan, which a loaded machine does not shorten.
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
    """A scan of some directories: the files found, and the directories that were read."""

    files: dict[str, _File] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)


class FileWatch:
    """Compares the working directory of a session's kernels before and after their runs.

    The scan after a run of any of them is the scan before the next one. Changes in between are recognised by
    their time; of runs at the same time the first to end reports a change. In trees with many files only the
    upper levels are scanned. Outside the directory, where other programs may write, only files are found that
    the kernel itself opened for writing (`touched`). Files that terp writes while code runs are left out: its
    redirected stdout and stderr, `own_files`, and all below `own_folders`. A `kernel` is any value that
    identifies it.
    """

    def __init__(
        self, most_files: int = 5_000, own_files: Sequence[str] = (), own_folders: Sequence[str] = ()
    ) -> None:
        self._most_files = most_files
        self._own_files = own_files
        self._own_folders = tuple({each for folder in own_folders for each in _spellings(folder)})
        self._root = ""
        self._cwds: dict[object, str] = {}
        self._before = _Look()
        # The scan before each open run, and what other runs have reported since the first of them began.
        self._open: dict[object, _Look] = {}
        self._reported: dict[str, _File | None] = {}
        self._lock = threading.Lock()

    def look(self, root: str, kernel: object = None) -> None:
        """Scan the directory before the first run of a kernel."""
        with self._lock:
            self._root = root
            self._cwds.pop(kernel, None)
            self._before = self._looked()

    def begin(self, kernel: object = None) -> None:
        """Begin a run: the last scan is the state before it."""
        self._open[kernel] = self._before

    def changes(
        self,
        started_ns: int,
        touched: Mapping[str, State | None],
        cwd: str = "",
        kernel: object = None,
    ) -> tuple[FileChange, ...]:
        """Return the changes since `started_ns`, sorted by path.

        `touched` are paths with their state before the run touched them (None: not there); `cwd`
        is where the run has left the kernel.
        """
        with self._lock:
            before, since = self._open.get(kernel, self._before), started_ns - _CLOCK_SLACK_NS
            if cwd:
                self._cwds[kernel] = cwd
            self._before = after = self._looked()
            changed = {
                *_written(before, after, touched, since),
                *_deleted(before, after, since),
                *_touched_elsewhere(after, touched, since),
            }
            found = self._unreported(sorted(self._of_code(changed, touched), key=lambda change: change.path))
            self._open.pop(kernel, None)
            if not self._open:
                self._reported.clear()
        looks = [(one.path, (before if one.action == "deleted" else after).files) for one in found]
        states = {path: files[path].state for path, files in looks if path in files}
        return tuple(with_moves(found, states))[:_MOST_CHANGES]

    def _looked(self) -> _Look:
        # A deep directory in which code works is scanned first.
        below = [cwd for cwd in self._cwds.values() if Path(cwd).is_relative_to(self._root)]
        return _look([self._root, *below], self._most_files)

    def _of_code(
        self, changes: Iterable[FileChange], touched: Mapping[str, State | None]
    ) -> Iterator[FileChange]:
        """Yield the changes that terp itself has not made."""
        own = set(_identities((*_STANDARD_STREAMS, *self._own_files)))
        for one in changes:
            is_own = one.path not in touched and not own.isdisjoint(_identities([one.path]))
            if not is_own and not one.path.startswith(self._own_folders):
                yield one

    def _unreported(self, changes: Sequence[FileChange]) -> Sequence[FileChange]:
        """Return the changes that no other run at the same time has reported."""
        states = {one.path: None if one.action == "deleted" else _file(one.path) for one in changes}
        missing = object()
        found = [one for one in changes if self._reported.get(one.path, missing) != states[one.path]]
        self._reported.update(states)
        return found


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


def with_moves(changes: Sequence[FileChange], states: Mapping[str, State]) -> Iterator[FileChange]:
    """Yield the changes, with a deleted and an equal created file joined into one move.

    `states` are the known states of created files now, and of deleted ones before.
    """
    gone = {states[one.path]: one.path for one in changes if one.action == "deleted" and one.path in states}
    sources = {
        one.path: gone.pop(states[one.path])
        for one in changes
        if one.action == "created" and states.get(one.path) in gone
    }
    moved = frozenset(sources.values())
    for one in changes:
        if one.path in sources:
            yield replace(one, action="moved", source=sources[one.path])
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
    """Yield the prefixes of paths below a folder: its absolute and its resolved path."""
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
        # Files that terp removes at its end are no result; `Leftovers` reports them.
        return False
    if parents & directories:
        return not any(part in _SKIPPED for part in name.parts)
    return not any(part in _SKIPPED or part.startswith(".") for part in name.parts[:-1])


def of_interest(changes: Sequence[FileChange], cwd: str) -> tuple[FileChange, ...]:
    """Return the changes that may be results of code in `cwd`: none in caches and hidden directories."""
    below = f"{cwd.rstrip('/')}/"
    found = (one for one in changes if _is_of_interest(one.path.removeprefix(below), set()))
    return tuple(found)[:_MOST_CHANGES]


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


class RunFiles:
    """Finds the files that the runs of one kernel change: here none, as they may be on another machine."""

    async def look(self, root: str) -> None:
        """Scan the directory in which a kernel is started, before its first run."""

    def begin(self) -> None:
        """Note that a run begins."""

    async def changed_by(self, run: "KernelRun", running: "RunningKernel") -> tuple[FileChange, ...]:
        """Return the files that a finished run has changed, sorted by path."""
        return ()


class LocalFiles(RunFiles):
    """Finds the files of a kernel of this machine, in a thread; kernels may share the watch.

    Directories are not scanned while effects of the kernel are `held`: the account of them names the files.
    """

    def __init__(self, watch: FileWatch, held: Callable[[], bool] = bool) -> None:
        self._watch = watch
        self._held = held

    async def look(self, root: str) -> None:
        """Scan the directory, and remove folders that a killed terp has left."""
        await asyncio.to_thread(self._look, root)

    def begin(self) -> None:
        """Use the last scan as the state before the run."""
        self._watch.begin(self)

    async def changed_by(self, run: "KernelRun", running: "RunningKernel") -> tuple[FileChange, ...]:
        """Compare the directory with the state before the run."""
        return await asyncio.to_thread(self._watch.changes, run.sent_ns, run.touched, run.cwd, self)

    def _look(self, root: str) -> None:
        sweep()
        if not self._held():
            self._watch.look(root, self)
