"""Lines of stdin for code that asks, read one at a time: what is not asked for stays there."""

import asyncio
import os
from contextlib import suppress

from terp_cli.terminal import tty

_PIECE = 64 * 1024


class TypedLines:
    """Lines of the descriptor `number`, which may be closed, a file, a pipe or a terminal."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._read = b""

    async def next(self, *, secret: bool = False) -> str | None:
        """The next line without its end; None when there is none. A terminal does not show a `secret` one."""
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
            return os.read(self._number, _PIECE)
        except OSError:
            # Nothing was given as stdin, or the terminal is gone.
            return b""

    async def _until_readable(self) -> None:
        loop, readable = asyncio.get_running_loop(), asyncio.Event()
        # A file can always be read, and cannot be waited for.
        with suppress(PermissionError):
            loop.add_reader(self._number, readable.set)
            try:
                await readable.wait()
            finally:
                loop.remove_reader(self._number)
