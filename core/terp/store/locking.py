"""One process to a session: a lock that ends with the process, and the process that has it."""

import errno
import fcntl
import os
import time
from pathlib import Path

from terp.errors import SessionInUse

LOCK_NAME = "lock"
# Whoever only looks whether a session is open holds the lock for an instant.
_TRIES, _PAUSE_S = 20, 0.005


class Lock:
    """A session's folder for this process alone, until `release` or the end of the process."""

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
        """Let others have it. Harmless when called twice."""
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
            f"terp begins a new session; terp -r {folder.name} --fork continues on a copy of this one.",
        )


def in_use(folder: Path) -> bool:
    """Whether a process has the session of this folder open."""
    try:
        descriptor = os.open(folder / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _taken(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def holder(folder: Path) -> int:
    """The process that took the lock last; 0 when that is not known."""
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
