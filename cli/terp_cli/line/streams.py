"""The standard streams of this process, which the caller may have closed."""

import errno
import io
import os
import sys
from typing import TextIO

from terp_cli.terminal.glyphs import stand_ins

CANNOT_TAKE_MORE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Errors of a write when the disk or the terminal of a stream is full or gone."""


class _Closed(io.StringIO):
    """A stdout that the caller has closed."""

    def write(self, text: str) -> int:
        """Fail as a write to a closed descriptor does."""
        raise OSError(errno.EBADF, "stdout is closed")


def stdout() -> TextIO:
    """Return stdout, which takes the answer."""
    return _Closed() if sys.stdout is None else _usable(sys.stdout)


def stderr() -> TextIO:
    """Return stderr, which takes everything else."""
    return _usable(sys.stderr)


def let_go() -> None:
    """Point stdout and stderr at /dev/null: the reader has left, and a flush at exit would fail."""
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
