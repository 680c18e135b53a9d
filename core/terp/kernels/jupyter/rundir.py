"""A private directory for one kernel's sockets, connection file and log."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from terp.errors import KernelStartFailed
from terp.text.files import content_of

PREFIX = "terp-k-"
"""The beginning of the names of such directories."""

# `sun_path` holds 107 bytes on Linux and 103 on macOS, and "/terp-k-xxxxxxxx/c.json-ipc-5" comes on top.
_LONGEST_BASE = 70
_TAIL_BYTES = 8_192
_LONGEST_STACK = 1_000_000


class RunDir:
    """A directory with mode 0700, removed by `close`.

    Its lock file stays locked as long as the owner lives: a directory whose lock is free was left
    behind by a terp that was killed, and `sweep` removes it.

    Raises:
        KernelStartFailed: there is no room for one.
    """

    def __init__(self, base: Path | None = None) -> None:
        try:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base or short_base()))
            self._lock: IO[bytes] = (self.path / "lock").open("wb")
            # The code can put a link to anything in its place, so it is never opened again.
            self._read_log: IO[bytes] = self.log.open("a+b")
        except OSError as error:
            raise KernelStartFailed(
                f"There is no folder for the sockets of a kernel: {error.strerror}.",
                "Make room, or set TMPDIR to a folder that can be written.",
            ) from error
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @property
    def connection_file(self) -> Path:
        """The path of Jupyter's connection file; the socket paths derive from it."""
        return self.path / "c.json"

    @property
    def log(self) -> Path:
        """The log of the kernel process: warnings, crashes, messages of C code."""
        return self.path / "log"

    def stack(self) -> str:
        """Return the stack that the kernel wrote at a signal; "" while it is not complete."""
        try:
            text = content_of(self.path / "stack", _LONGEST_STACK).decode(errors="replace")
        except OSError:
            return ""
        return text if text.endswith("\n") and "  File " in text else ""

    def log_tail(self, lines: int = 12) -> str:
        """Return the last lines of the log, or the first lines about a crash of Python; "" without any."""
        if self._read_log.closed:
            return ""
        log = self._read_log.fileno()
        text = os.pread(log, _TAIL_BYTES, max(0, os.fstat(log).st_size - _TAIL_BYTES)).decode(
            errors="replace"
        )
        crash = text.find("Fatal Python error")
        if crash >= 0:
            # The innermost frames come first, then many of the kernel's own.
            return "\n".join(line for line in text[crash:].splitlines()[:6] if line)
        return "\n".join(text.strip().splitlines()[-lines:])

    def close(self) -> None:
        """Remove the directory."""
        self._read_log.close()
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


def short_base() -> Path:
    """Return a directory of temporary files whose path leaves room for a socket's name."""
    for base in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"):  # noqa: S108
        if base and len(os.fsencode(base)) <= _LONGEST_BASE and os.access(base, os.W_OK | os.X_OK):
            return Path(base)
    return Path(tempfile.gettempdir())


def sweep(base: Path | None = None, *, older_than_s: float = 60.0) -> None:
    """Remove the directories that a killed terp of this user left behind.

    A younger one may belong to a terp that has not locked it yet.
    """
    for path in _ours(base or short_base(), time.time() - older_than_s):
        try:
            with (path / "lock").open("r+b") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue


def _ours(base: Path, before: float) -> Iterator[Path]:
    try:
        with os.scandir(base) as entries:
            for entry in entries:
                if not entry.name.startswith(PREFIX):
                    continue
                found = entry.stat(follow_symlinks=False)
                if found.st_uid == os.getuid() and found.st_mtime <= before:
                    yield Path(entry.path)
    except OSError:
        return
