"""The files below one directory, opened name by name, so that no link and no race leads out of it."""

import errno
import os
import re
import secrets
import stat
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import anyio.to_thread

from terp.text.dataclasses import dataclass
from terp.text.files import make_private
from terp_cli.server.failures import RequestRefused

_DEPTH = 32
_LONGEST = 255
# Also with an extension: on Windows `nul.txt` is the device.
_DEVICES = re.compile(r"(?i:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|\ud800-\udfff]')
# What no file of this machine can be called, and what no client can write in JSON.
_IMPOSSIBLE = re.compile(r"[\x00\ud800-\udfff]")


def parts_of(path: str, *, there: bool = False) -> Sequence[str]:
    """Split a path into names; if it is `there` (exists), any name that this system allows is valid.

    Raises:
        RequestRefused: a name leads out of the directory, is hidden, or is invalid on some system.
    """
    names = path.split("/")
    if len(names) > _DEPTH:
        raise RequestRefused(404, f"A path has {_DEPTH} parts at most.", code="wrong_name")
    for name in names:
        if problem := _problem(name, there=there):
            raise RequestRefused(404, f"The name {name[:80]!r} {problem}.", code="wrong_name")
    return names


def _problem(name: str, *, there: bool) -> str:
    if not name:
        return "is empty"
    if name.startswith("."):
        return "is hidden, or leads elsewhere"
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST:
        return f"is longer than {_LONGEST} bytes"
    if (_IMPOSSIBLE if there else _FORBIDDEN).search(name):
        return "has a character that some systems do not allow in names"
    if not there and (name.endswith((" ", ".")) or _DEVICES.match(name)):
        return "is no valid name on some systems"
    return ""


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A FIFO would otherwise wait for its other end.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LISTED = 10_000
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file by its path below the directory. `size` is in bytes, `modified` in seconds since the epoch."""

    path: str
    size: int
    modified: float


class Tree:
    """The regular files below a directory, without hidden ones and those below the directories `without`."""

    def __init__(self, top: Path, without: Sequence[Path] = ()) -> None:
        self._top = top
        self._without = without

    def listed(self) -> tuple[list[FileEntry], bool]:
        """Return the files in order, and True if the list was cut."""
        found: list[FileEntry] = []
        for entry, descriptor in self.walked():
            os.close(descriptor)
            if len(found) == _MOST_LISTED:
                return found, True
            found.append(entry)
        return found, False

    def walked(self) -> Iterator[tuple[FileEntry, int]]:
        """Yield every file, open for reading; the caller closes it."""
        try:
            top = self._opened_top()
        except RequestRefused:
            return
        yield from self._walked(top, "", self._forbidden())

    def read(self, path: str) -> int:
        """Return a file, open for reading.

        Raises:
            RequestRefused: there is no such file.
        """
        with self._folder_of(path, make=False) as (folder, name):
            return _open_file(folder, name, path)

    async def write(self, path: str, pieces: AsyncIterator[bytes]) -> int:
        """Write `pieces` to the file at `path`, atomically; return its size.

        Raises:
            RequestRefused: the file cannot be written.
        """
        target = await anyio.to_thread.run_sync(_Target, self, path)
        try:
            async for piece in pieces:
                await anyio.to_thread.run_sync(target.add, piece)
            return await anyio.to_thread.run_sync(target.finish)
        finally:
            await anyio.to_thread.run_sync(target.close)

    def remove(self, path: str) -> None:
        """Remove a file.

        Raises:
            RequestRefused: there is none of this name.
        """
        with self._folder_of(path, make=False) as (folder, name):
            os.close(_open_file(folder, name, path))
            try:
                os.unlink(name, dir_fd=folder)
            except OSError as error:
                _refuse(error, path)

    @contextmanager
    def _folder_of(self, path: str, *, make: bool) -> Iterator[tuple[int, str]]:
        *folders, name = parts_of(path, there=not make)
        forbidden = self._forbidden()
        current = self._opened_top(make=make)
        try:
            for folder in folders:
                below = _open_folder(current, folder, path, make=make)
                os.close(current)
                current = below
                if _identity(current) in forbidden:
                    raise _missing(path)
            yield current, name
        finally:
            os.close(current)

    def _opened_top(self, *, make: bool = False) -> int:
        try:
            if make:
                make_private(self._top)
            # What leads to the directory is the user's own; below it nothing is followed.
            return os.open(self._top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            _refuse(error, str(self._top))

    def _forbidden(self) -> Collection[tuple[int, int]]:
        found = set[tuple[int, int]]()
        for folder in self._without:
            with suppress(OSError):
                facts = folder.stat()
                found.add((facts.st_dev, facts.st_ino))
        return found

    def _walked(
        self, folder: int, before: str, forbidden: Collection[tuple[int, int]]
    ) -> Iterator[tuple[FileEntry, int]]:
        """Yield every file below an open folder; close the folder at the end."""
        try:
            for name in sorted(os.listdir(folder)):
                path = before + name
                try:
                    parts_of(path, there=True)
                    kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
                    if stat.S_ISDIR(kind):
                        below = os.open(name, _FOLDER, dir_fd=folder)
                    elif stat.S_ISREG(kind):
                        descriptor = _open_file(folder, name, path)
                    else:
                        continue
                except (RequestRefused, OSError):
                    continue
                if not stat.S_ISDIR(kind):
                    facts = os.fstat(descriptor)
                    yield FileEntry(path, facts.st_size, facts.st_mtime), descriptor
                elif _identity(below) in forbidden:
                    os.close(below)
                else:
                    yield from self._walked(below, f"{path}/", forbidden)
        finally:
            os.close(folder)


class _Target:
    """A file that is written under another name, and renamed when it is complete."""

    def __init__(self, tree: Tree, path: str) -> None:
        self._path = path
        self._size = 0
        self._part = f".{secrets.token_hex(8)}.part"
        self._folder: int | None = None
        with tree._folder_of(path, make=True) as (folder, self._name):
            try:
                self._file = os.open(self._part, _NEW, 0o600, dir_fd=folder)
            except OSError as error:
                _refuse(error, path)
            self._folder = os.dup(folder)

    def add(self, piece: bytes) -> None:
        left = memoryview(piece)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            _refuse(error, self._path)
        self._size += len(piece)

    def finish(self) -> int:
        try:
            # A link of that name is replaced, not followed.
            os.rename(self._part, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError as error:
            _refuse(error, self._path)
        return self._size

    def close(self) -> None:
        if self._folder is None:
            return
        os.close(self._file)
        with suppress(OSError):
            os.unlink(self._part, dir_fd=self._folder)
        os.close(self._folder)
        self._folder = None


def _open_folder(above: int, name: str, path: str, *, make: bool) -> int:
    try:
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=above)
        return os.open(name, _FOLDER, dir_fd=above)
    except OSError as error:
        _refuse(error, path)


def _open_file(folder: int, name: str, path: str) -> int:
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError as error:
        _refuse(error, path)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _missing(path)
    return descriptor


def _identity(descriptor: int) -> tuple[int, int]:
    facts = os.fstat(descriptor)
    return facts.st_dev, facts.st_ino


def _refuse(error: OSError, path: str) -> NoReturn:
    """Raise the refusal for a file error, without revealing other files."""
    if error.errno in _FULL:
        raise RequestRefused(413, "The disk is full.", code="disk_full") from error
    if error.errno in (errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY):
        raise RequestRefused(409, f"{path!r} is a directory.") from error
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        raise RequestRefused(409, f"{path!r} cannot be changed or read.", code="no_right") from error
    raise _missing(path) from error


def _missing(path: str) -> RequestRefused:
    return RequestRefused(404, f"There is no file {path[:200]!r}.")
