"""The standard streams of this process, whatever state the caller left them in."""

import errno
import io
import os
import sys
from typing import TextIO

from terp_cli.terminal.glyphs import stand_ins

CANNOT_TAKE_MORE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""What a write fails with when the disk, or the terminal, behind a stream is full or gone."""


class _Closed(io.StringIO):
    """The stdout of a caller that has closed it."""

    def write(self, text: str) -> int:
        """Fail as a write to a closed descriptor does."""
        raise OSError(errno.EBADF, "stdout is closed")


def stdout() -> TextIO:
    """Where the answer goes."""
    return _Closed() if sys.stdout is None else _usable(sys.stdout)


def stderr() -> TextIO:
    """Where everything else goes."""
    return _usable(sys.stderr)


def let_go() -> None:
    """Stop writing to a reader who has left; without this the end of the program would complain."""
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)


def _usable(stream: TextIO | None) -> TextIO:
    # A stream that the caller closed is None.
    if stream is None:
        return io.StringIO()
    if isinstance(stream, io.TextIOWrapper):
        # A locale that lacks a character, or half a surrogate pair, must not end a turn.
        stream.reconfigure(errors=stand_ins())
    return stream
