"""What was typed at the prompt, kept in one file for all sessions."""

import fcntl
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from prompt_toolkit.history import History

_READ_BYTES = 1_000_000
"""How much of the end of the file is read: some ten thousand entries."""


class LockedHistory(History):
    """Entries in a file that only its owner can read, safe with several sessions at once.

    The format is prompt_toolkit's own: each line of an entry after a `+`, with a blank line before.
    A file that cannot be read or written is no reason not to work: the history is then forgotten.
    """

    def __init__(self, path: Path, without_secrets: Callable[[str], str] = str) -> None:
        """Keep entries in `path` as `without_secrets` leaves them; whole ones come back in this session."""
        super().__init__()
        self._path = path
        self.without_secrets = without_secrets

    async def load(self) -> AsyncGenerator[str, None]:
        """The entries, newest first; read when the prompt is on the screen already."""
        if not self._loaded:
            self._loaded_strings = list(self.load_history_strings())
            self._loaded = True
        for entry in self._loaded_strings:
            yield entry

    def load_history_strings(self) -> Iterable[str]:
        """The entries of the file, newest first."""
        try:
            with self._locked("rb", fcntl.LOCK_SH) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _READ_BYTES))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return []
        return list(reversed(list(_entries(text))))

    def store_string(self, string: str) -> None:
        """Append an entry in one write."""
        lines = self.without_secrets(string).split("\n")
        entry = "\n" + "".join(f"+{line}\n" for line in lines)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._locked("ab", fcntl.LOCK_EX) as file:
                # Code that a model wrote, and that was brought back to the line, may hold any half of a pair.
                file.write(entry.encode("utf-8", "replace"))
        except OSError:
            return

    @contextmanager
    def _locked(self, mode: str, lock: int) -> Iterator[IO[bytes]]:
        flags = os.O_RDONLY if mode == "rb" else os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = os.open(self._path, flags | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, mode) as file:
            fcntl.flock(file, lock)
            if lock == fcntl.LOCK_EX:
                # It may have come from elsewhere, with the mode of files there.
                os.fchmod(descriptor, 0o600)
            yield file


def _entries(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith("+"):
            lines.append(line[1:])
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)
