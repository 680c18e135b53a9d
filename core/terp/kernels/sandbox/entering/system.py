"""Calls of the system that Python has no function for."""

import ctypes
import functools
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@functools.cache
def libc() -> "Any":
    """Return the C library, with `errno` preserved. Cached: loading takes more than most calls."""
    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: "Any") -> int:
    """Make a system call and return its result.

    Raises:
        OSError: it failed.
    """
    returned = int(libc().syscall(ctypes.c_long(number), *arguments))
    if returned < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return returned
