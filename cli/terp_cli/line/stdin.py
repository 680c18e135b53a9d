"""The stdin of this process: its kind, and the lines that code reads from it."""

import asyncio
import os
import stat
from contextlib import suppress
from typing import Literal

from terp_cli.terminal import tty

Source = Literal["terminal", "nothing", "data"]


def source_of(descriptor: int) -> Source:
    """Return the kind of stdin. Closed, `/dev/null` and a directory are "nothing"."""
    try:
        status = os.fstat(descriptor)
        if os.isatty(descriptor):
            return "terminal"
        null = os.stat(os.devnull)  # noqa: PTH116  (compared with a descriptor's status)
    except OSError:
        return "nothing"
    is_null = stat.S_ISCHR(status.st_mode) and status.st_rdev == null.st_rdev
    return "nothing" if is_null or stat.S_ISDIR(status.st_mode) else "data"


_LINE_PIECE = 64 * 1024


class TypedLines:
    """Reader of single lines from the descriptor `number`: closed, a file, a pipe or a terminal."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._read = b""

    async def next(self, *, secret: bool = False) -> str | None:
        """Return the next line without its end, None at the end; a terminal does not echo a `secret`."""
        with tty.unseen(self._number if secret else None):
            while b"\n" not in self._read:
                piece = await self._piece()
                if not piece:
                    return self._last()
                self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        return line.decode(errors="replace")

    def _last(self) -> str | None:
        line, self._read = self._read, b""
        return line.decode(errors="replace") if line else None

    async def _piece(self) -> bytes:
        try:
            await self._until_readable()
            return os.read(self._number, _LINE_PIECE)
        except OSError:
            # stdin is closed, or the terminal is gone.
            return b""

    async def _until_readable(self) -> None:
        loop, readable = asyncio.get_running_loop(), asyncio.Event()
        # A file is always readable, and epoll refuses it.
        with suppress(PermissionError):
            loop.add_reader(self._number, readable.set)
            try:
                await readable.wait()
            finally:
                loop.remove_reader(self._number)
