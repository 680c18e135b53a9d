"""States of files before code changed them: saved right before each change, restored on request of terp.

The copies have no names, and belong to a process that code cannot look into, so code cannot change them.
"""

import fcntl
import os
import resource
import stat
import struct
import time
from contextlib import suppress
from itertools import islice

from terp.kernels.sandbox.entering.acting import SystemEffect
from terp.kernels.sandbox.entering.permissions import shown
from terp.kernels.sandbox.entering.reached import Reached, openat2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Bytes of a file and of all copies, as far as they cannot share blocks with the file; paths in all turns, and
# in a folder that is moved.
_LARGEST, _ROOM = 64 << 20, 512 << 20
_MOST_PATHS, _MOST_MOVED, _MOST_TURNS = 100_000, 10_000, 100
_FICLONERANGE = 0x4020940D
# File systems share whole blocks; the gaps take no space.
_BLOCK = 1 << 16
_STEP = 1 << 20
# Of text files terp shows what a run has changed.
_LONGEST_TEXT, _MOST_TEXTS = 200_000, 50
_NO_SYMLINKS, _BENEATH = 4, 8
# CLOCK_REALTIME_COARSE, by which Linux dates files.
_FILES_CLOCK = 5


class _State:
    """State of a path before its first change of a turn, at the time `when`.

    `kind` is "absent", "file", "link", "folder" or "not", which cannot be restored for the reason `why`.
    `found` is its `stat`, `target` that of a link. The content is `size` bytes of the file `copy`, from `at`.
    """

    __slots__ = ("at", "copy", "found", "kind", "size", "target", "when", "why")

    def __init__(self, kind: str, found: os.stat_result | None = None, why: str = "") -> None:
        self.kind = kind
        self.found = found
        self.why = why
        self.target = b""
        self.copy = self.at = self.size = 0
        self.when = time.monotonic_ns()


class _Turn:
    """The states at the beginning of a turn, by real paths, and the files that have the copies."""

    __slots__ = ("began_ns", "copies", "end", "more", "number", "size", "states")

    def __init__(self, number: int) -> None:
        self.number = number
        self.states: dict[bytes, _State] = {}
        self.copies: list[int] = []
        self.end = self.size = self.more = 0
        self.began_ns = time.clock_gettime_ns(_FILES_CLOCK)


class FileStates:
    """The states of files in the writable `folders` at the beginnings of turns.

    `covers` says which paths are files of the user. The oldest turns are dropped first.
    """

    def __init__(self, folders: "list[str]", covers: "Callable[[bytes], bool]") -> None:
        self._covers = covers
        self._roots = [one.encode("utf-8", "surrogateescape").rstrip(b"/") for one in folders]
        self._turns: list[_Turn] = []
        self._since: int | None = None
        self._dropped = -1
        self._paths = 0
        self._touched: set[bytes] = set()
        # How runs have left files: another state now means that another program has changed them.
        self._left: dict[bytes, object] = {}
        # How runs of this turn have left small text files.
        self._texts: dict[bytes, str] = {}

    def begin(self, number: int | None) -> None:
        """Begin turn `number` if it is a later one. Without any turn nothing is saved."""
        if number is not None and (not self._turns or number > self._turns[-1].number):
            self._turns.append(_Turn(number))
            self._texts = {}
            self._since = number if self._since is None else self._since
        if len(self._turns) > _MOST_TURNS:
            self._drop()

    def before(self, effect: SystemEffect) -> None:
        """Save what an effect is about to change, delete or move."""
        file = effect.entry or effect.file
        if not self._turns or effect.verb not in ("modify", "delete") or file is None:
            return
        if not (effect.what in self._turns[-1].states or self._covers(effect.what)):
            return
        name = file.name.rstrip(b"/")
        if not file.name:
            self._save(effect.what, file.again, None, changed=True)
        elif name not in (b"", b".", b".."):
            self._save(effect.what, name, file.fd)
            if effect.to and effect.folder:
                self._save_below(effect.what, name, file.fd)

    def after(self, effect: SystemEffect) -> None:
        """Note what an effect has created or moved: what is there now was not there before."""
        if not self._turns:
            return
        if effect.verb == "create":
            self._note_name(effect.what, effect.file.path if effect.file else b"")
        elif effect.to and effect.verb in ("modify", "delete"):
            for old in (effect.what, *self._moved(effect)):
                self._note_name(effect.to + old[len(effect.what) :], old)

    def _moved(self, effect: SystemEffect) -> "list[bytes]":
        """Return the old paths of what was in a folder that was moved."""
        what, to = effect.what, effect.to
        if not effect.folder:
            return []
        if self._covers(what):
            return [one for one in self._turns[-1].states if one.startswith(what + b"/")]
        found = ((above, one) for above, *names in os.walk(to) for one in (*names[0], *names[1]))
        return [what + above[len(to) :] + b"/" + one for above, one in islice(found, _MOST_MOVED)]

    def settle(self) -> None:
        """Note how a run has left the files that it changed."""
        for path in self._touched:
            self._left[path] = _signature(path)
        self._touched.clear()

    def text_before(self, path: bytes) -> "str | None":
        """Return the text of a file before the run that ends; None if it is large, no text, or not known."""
        state = self._turns[-1].states.get(path) if self._turns else None
        before = self._texts.pop(path, None)
        if before is None and state is not None and state.kind == "file" and state.size <= _LONGEST_TEXT:
            before = _text(os.pread(state.copy, state.size, state.at) if state.size else b"")
        if state is not None and len(self._texts) < _MOST_TEXTS:
            with suppress(OSError), open(path, "rb") as file:  # noqa: PTH123  (pathlib takes 5 ms to import)
                now = _text(file.read(_LONGEST_TEXT + 1))
                self._texts |= {} if now is None else {path: now}
        return before

    def changed(self, number: int) -> "dict[str, object]":
        """Return the files changed since the beginning of a turn.

        Each as (path, what can be done, why not, time of the first change, as the last run left it); what can
        be done is "put back", "remove", "same" or "not". Of `more` paths there was no room for the state. The
        first turn of this process is `since`.
        """
        too_old = ("not", "too long ago: its copy was dropped") if number <= self._dropped else None
        rows = [
            [shown(path), *(too_old or self._possible(path, state)), state.when, self._is_as_left(path)]
            for path, state in self._first(number).items()
        ]
        more = sum(turn.more for turn in self._turns if turn.number >= number)
        return {"files": rows, "more": more, "since": self._since}

    def restore(self, number: int, paths: "list[str]") -> "list[list[str]]":
        """Restore paths in this order; return each with "back", "removed" or "not", and why not."""
        first = self._first(number)
        wanted = (path.encode("utf-8", "surrogateescape") for path in paths)
        return [[shown(path), *self._restored(path, first[path])] for path in wanted if path in first]

    def _first(self, number: int) -> dict[bytes, _State]:
        first: dict[bytes, _State] = {}
        for turn in reversed(self._turns):
            if turn.number >= number:
                first.update(turn.states)
        return {path: state for path, state in first.items() if self._covers(path)}

    def _note_name(self, path: bytes, source: bytes) -> None:
        """Note that a path was not there before, unless its state is known; what is there was at `source`."""
        states = self._turns[-1].states
        if (path in states or self._covers(path)) and self._is_new(path):
            self._put(path, _State("absent"))
        if path in states and source in states and states[source].kind == "not":
            # The content has no copy, and maybe no other name.
            states[path] = _State("not", why=states[source].why)

    def _is_new(self, path: bytes) -> bool:
        if path in self._turns[-1].states or path in self._roots:
            self._touched.add(path)
            return False
        while self._paths >= _MOST_PATHS and len(self._turns) > 1:
            self._drop()
        if self._paths >= _MOST_PATHS:
            self._turns[-1].more += 1
            return False
        self._touched.add(path)
        return True

    def _put(self, path: bytes, state: _State) -> None:
        self._turns[-1].states[path] = state
        self._paths += 1

    def _drop(self) -> None:
        oldest = self._turns.pop(0)
        self._dropped = oldest.number
        self._paths -= len(oldest.states)
        kept = set().union(*(turn.states for turn in self._turns))
        self._left = {path: left for path, left in self._left.items() if path in kept}
        for copy in oldest.copies:
            os.close(copy)

    def _save(self, path: bytes, name: bytes, folder: int | None, *, changed: bool = False) -> None:
        if not self._is_new(path):
            return
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=changed)
            # Opening a pipe or a device, and what is behind a link, are changes of no file.
            if not changed or stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
                self._put(path, self._state(path, found, name, folder))
        except FileNotFoundError:
            self._put(path, _State("absent"))
        except OSError as error:
            self._put(path, _State("not", why=error.strerror or "it cannot be read"))

    def _save_below(self, path: bytes, name: bytes, folder: int) -> None:
        state = self._turns[-1].states.get(path)
        if state is None or state.kind == "absent":
            # All that is in it has come there in this turn.
            return
        count = 0
        try:
            for above, folders, files, fd in os.fwalk(name, dir_fd=folder):
                count += len(folders) + len(files)
                if count > _MOST_MOVED:
                    raise OSError(0, "too many files were moved with it")
                for one in (*folders, *files):
                    self._save(path + above[len(name) :] + b"/" + one, one, fd)
        except OSError as error:
            self._turns[-1].states[path] = _State("not", why=error.strerror or "it cannot be read")

    def _state(self, path: bytes, found: os.stat_result, name: bytes, folder: int | None) -> _State:
        """Return the state of what is there.

        Raises:
            OSError: it cannot be saved.
        """
        if stat.S_ISDIR(found.st_mode):
            return _State("folder", found)
        if stat.S_ISLNK(found.st_mode):
            state = _State("link", found)
            state.target = os.readlink(name, dir_fd=folder)
            return state
        if not stat.S_ISREG(found.st_mode):
            return _State("not", why="it is no plain file")
        is_as_left = path in self._left and _signature_of(found) == self._left[path]
        if found.st_mtime_ns >= self._turns[-1].began_ns and not is_as_left:
            return _State("not", why="the turn had written to it before it could be copied")
        state = _State("file", found)
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if folder is None else os.O_NOFOLLOW)
        file = os.open(name, flags, dir_fd=folder)
        try:
            self._copy(file, found.st_size, state)
        finally:
            os.close(file)
        return state

    def _copy(self, file: int, size: int, state: _State) -> None:
        turn = self._turns[-1]
        if not size:
            return
        state.copy, state.at, state.size = self._copies(size), turn.end, size
        try:
            shared = struct.pack("=qQQQ", file, 0, 0, state.at)
            fcntl.ioctl(state.copy, _FICLONERANGE, shared)
        except OSError:
            self._make_room(size)
            turn.size += size
            os.lseek(state.copy, state.at, os.SEEK_SET)
            done = 0
            while done < size and (sent := os.sendfile(state.copy, file, done, size - done)):
                done += sent
            state.size = done
        turn.end = (state.at + size + _BLOCK - 1) // _BLOCK * _BLOCK

    def _make_room(self, size: int) -> None:
        """Drop old copies for one of `size` bytes.

        Raises:
            OSError: it is too large.
        """
        if size > _LARGEST:
            raise OSError(0, f"{size / 1e6:,.0f} MB is too large to be kept")
        while len(self._turns) > 1 and self._size() + size > _ROOM:
            self._drop()
        if self._size() + size > _ROOM:
            raise OSError(0, "copies of other files use all the space")

    def _size(self) -> int:
        return sum(turn.size for turn in self._turns)

    def _copies(self, size: int) -> int:
        """Return a file without a name that has room for a copy at the turn's end."""
        turn, (limit, _) = self._turns[-1], resource.getrlimit(resource.RLIMIT_FSIZE)
        if not turn.copies or (turn.end and limit != resource.RLIM_INFINITY and turn.end + size > limit):
            turn.copies.append(_nameless(self._roots[0]))
            turn.end = 0
        return turn.copies[-1]

    def _is_as_left(self, path: bytes) -> bool:
        now = _signature(path)
        return path in self._touched or now == self._left.get(path, now)

    def _possible(self, path: bytes, state: _State) -> tuple[str, str]:
        """Return what can be done to restore a path, and why not."""
        if state.kind == "not":
            return "not", state.why
        try:
            with self._entry(path) as entry:
                same = _is_same(entry, state)
        except OSError:
            # Another folder, or none, is where its folder was.
            same = state.kind == "absent"
        return ("same" if same else "remove" if state.kind == "absent" else "put back"), ""

    def _restored(self, path: bytes, state: _State) -> tuple[str, str]:
        if state.kind == "not":
            return "not", state.why
        try:
            with self._entry(path, make=state.kind != "absent") as entry:
                _put_back(entry, state)
        except OSError as error:
            return "not", error.strerror or "it cannot be written"
        self._left[path] = _signature(path)
        return ("removed" if state.kind == "absent" else "back"), ""

    def _entry(self, path: bytes, *, make: bool = False) -> Reached:
        """Return a path's name in its folder, which is reached through no link; `make` missing folders.

        Raises:
            OSError: there is no such folder, or a link in its place.
        """
        root = min((one for one in self._roots if path.startswith(one + b"/")), key=len)
        folder, _, name = path[len(root) + 1 :].rpartition(b"/")
        base = os.open(root or b"/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return Reached(_folder(base, folder or b".", make=make), name)
        finally:
            os.close(base)


def _folder(base: int, folder: bytes, *, make: bool) -> int:
    try:
        return openat2(base, folder, os.O_PATH | os.O_DIRECTORY, 0, _BENEATH | _NO_SYMLINKS)
    except FileNotFoundError:
        if not make:
            raise
    above, _, name = folder.rpartition(b"/")
    parent = _folder(base, above or b".", make=True)
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
    finally:
        os.close(parent)
    return _folder(base, folder, make=False)


def _text(content: bytes) -> str | None:
    try:
        return None if b"\0" in content or len(content) > _LONGEST_TEXT else content.decode()
    except ValueError:
        return None


def _nameless(folder: bytes) -> int:
    try:
        # In the project's own file system, where copies can share blocks with the files.
        return os.open(folder or b"/", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        return os.memfd_create("copies")


def _signature(path: bytes) -> object:
    """Return what differs after a write by another program; None if there is no file."""
    try:
        return _signature_of(os.lstat(path))
    except OSError:
        return None


def _signature_of(found: os.stat_result) -> object:
    if stat.S_ISDIR(found.st_mode):
        # Its times change with the files in it.
        return found.st_ino
    return found.st_size, found.st_mtime_ns, found.st_ino


def _is_same(entry: Reached, state: _State) -> bool:
    """Return True if the file is as it was.

    Raises:
        OSError: it cannot be read.
    """
    if (mode := entry.kind()) is None or state.found is None:
        return mode is None and state.kind == "absent"
    if state.kind == "link":
        return entry.link() == state.target
    if mode != state.found.st_mode:
        return False
    if state.kind == "folder":
        return True
    with entry.file() as file:
        opened = os.open(file.again, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return os.fstat(opened).st_size == state.size and all(
            os.pread(opened, _STEP, at) == os.pread(state.copy, min(_STEP, state.size - at), state.at + at)
            for at in range(0, state.size, _STEP)
        )
    finally:
        os.close(opened)


def _put_back(entry: Reached, state: _State) -> None:
    """Restore what had a name.

    Raises:
        OSError: it cannot be restored.
    """
    mode = entry.kind()
    if state.kind == "file" and _fill_again(entry, state):
        return
    if mode is not None and stat.S_ISDIR(mode):
        if state.kind != "folder":
            os.rmdir(entry.name, dir_fd=entry.fd)
    elif mode is not None:
        os.unlink(entry.name, dir_fd=entry.fd)
    if state.kind == "link":
        os.symlink(state.target, entry.name, dir_fd=entry.fd)
    elif state.kind == "file":
        _fill(entry.opened(os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), state)
    elif state.kind == "folder" and state.found is not None:
        if mode is None or not stat.S_ISDIR(mode):
            os.mkdir(entry.name, 0o700, dir_fd=entry.fd)
        with entry.file() as folder:
            os.chmod(folder.again, state.found.st_mode & 0o3777)  # noqa: PTH101  (pathlib takes 5 ms to import)


def _fill_again(entry: Reached, state: _State) -> bool:
    """Restore the content of the same file, so that it keeps its other names; return False if it is another.

    In another one, the content may be that of a second file, by a link that code made.
    """
    try:
        with entry.file() as file:
            if not os.path.samestat(os.stat(file.again), state.found):  # type: ignore[arg-type]  # noqa: PTH116
                return False
            opened = os.open(file.again, os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    _fill(opened, state)
    return True


def _fill(file: int, state: _State) -> None:
    """Write the content of a state to an open file, and close it.

    Raises:
        OSError: it failed.
    """
    try:
        os.ftruncate(file, 0)
        done = 0
        while done < state.size and (
            sent := os.sendfile(file, state.copy, state.at + done, state.size - done)
        ):
            done += sent
        if state.found is not None and os.fstat(file).st_mode != state.found.st_mode:
            os.fchmod(file, state.found.st_mode & 0o777)
    finally:
        os.close(file)
