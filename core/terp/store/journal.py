"""A file of lines that only grows: a line is there whole, or it was never written."""

import os
import threading
from contextlib import suppress
from pathlib import Path

from terp.settings.places import make_private
from terp.store.locking import Lock

NAME = "events.jsonl"
DAMAGED = "events.damaged"


class Journal:
    """The log of one session, open for writing by this process alone."""

    def __init__(self, folder: Path, *, new: bool = False) -> None:
        """Begin a `new` log, or open one to go on with, after it has been read, at its good end.

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
        """Write from byte `end` on, behind which nothing is worth keeping; it goes with the next write."""
        self._end, self._torn = end, True

    def append(self, lines: bytes) -> None:
        """Write whole lines with one call of the system.

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
        """Take away what lies behind the end; more than part of a line is put aside."""
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
        """Have on the disk what was written until now; in any thread. Nothing once it is closed.

        Raises:
            OSError: the disk failed.
        """
        with self._closing:
            if self._descriptor is not None:
                _sync(self._descriptor)

    def close(self) -> None:
        """Put all on the disk and let others open the session. Harmless when called twice."""
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
