"""The log of a session: a file of lines to which whole lines are appended, and its lock."""

import errno
import fcntl
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from terp.errors import SessionInUse
from terp.text.files import make_private

NAME = "events.jsonl"
DAMAGED = "events.damaged"
LOCK_NAME = "lock"
# Whoever only looks whether a session is open holds the lock for an instant.
_TRIES, _PAUSE_S = 20, 0.005


class Journal:
    """The log of one session, open for writing by this process only."""

    def __init__(self, folder: Path, *, new: bool = False) -> None:
        """Begin a `new` log, or open one to continue it at its good end.

        Raises:
            SessionInUse: another process has the session open.
            OSError: the log cannot be written, or a new one is there already.
        """
        make_private(folder)
        self.folder = folder
        self._lock = Lock(folder)
        # The end of a turn is written to the disk from another thread.
        self._closing = threading.Lock()
        self._descriptor: int | None = None
        self._end = 0
        self._torn = False
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if new else 0)
            self._descriptor = os.open(folder / NAME, flags, 0o600)
        except BaseException:
            self._lock.release()
            raise

    def go_on_at(self, end: int) -> None:
        """Continue at byte `end`; the next write removes the rest of the file."""
        self._end, self._torn = end, True

    def append(self, lines: bytes) -> None:
        """Write whole lines with one system call.

        Raises:
            OSError: they cannot be written; no part of them is left behind.
        """
        assert self._descriptor is not None, "the journal is closed"
        if self._torn:
            self._cut(self._descriptor)
            self._torn = False
        try:
            left = memoryview(lines)
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            raise
        self._end += len(lines)

    def _cut(self, descriptor: int) -> None:
        """Cut the file at its end; more than part of a line is saved beside it."""
        with (self.folder / NAME).open("rb") as file:
            file.seek(self._end)
            tail = file.read()
        if b"\n" in tail:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
            with os.fdopen(os.open(self.folder / DAMAGED, flags, 0o600), "wb") as aside:
                aside.write(tail)
        if tail:
            os.ftruncate(descriptor, self._end)

    def sync(self) -> None:
        """Flush to the disk, from any thread. Does nothing once it is closed.

        Raises:
            OSError: the disk failed.
        """
        with self._closing:
            if self._descriptor is not None:
                _sync(self._descriptor)

    def close(self) -> None:
        """Flush to the disk and release the lock. Harmless when called twice."""
        with self._closing:
            if self._descriptor is None:
                return
            descriptor, self._descriptor = self._descriptor, None
        try:
            _sync(descriptor)
        finally:
            os.close(descriptor)
            self._lock.release()


def _sync(descriptor: int) -> None:
    # macOS has no fdatasync.
    getattr(os, "fdatasync", os.fsync)(descriptor)


class Lock:
    """The lock of a session's folder, until `release` or the end of the process."""

    def __init__(self, folder: Path) -> None:
        """Take the lock.

        Raises:
            SessionInUse: another process has it; the message names it.
            OSError: the folder cannot be written to.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._descriptor: int | None = os.open(folder / LOCK_NAME, flags, 0o600)
        try:
            self._take(folder)
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, b"%d\n" % os.getpid(), 0)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release the lock. Harmless when called twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _take(self, folder: Path) -> None:
        assert self._descriptor is not None, "the lock was released"
        for left in reversed(range(_TRIES)):
            if _taken(self._descriptor, fcntl.LOCK_EX):
                return
            if left:
                time.sleep(_PAUSE_S)
        pid = holder(folder)
        raise SessionInUse(
            f"The session {folder.name} is open in another terp{f' (process {pid})' if pid else ''}.",
            f"terp attach {folder.name} shows a detached one; terp -r {folder.name} --fork continues a copy.",
        )


def in_use(folder: Path) -> bool:
    """Return True if a process has the session of this folder open."""
    try:
        descriptor = os.open(folder / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _taken(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def holder(folder: Path) -> int:
    """Return the id of the process that took the lock last; 0 if unknown."""
    try:
        return int((folder / LOCK_NAME).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def _taken(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as error:
        # A file system without locks must not keep anybody from working.
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True
