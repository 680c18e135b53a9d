"""Isolation of this process: no code from the working directory, no access to its memory for others."""

import os
import sys

_PR_SET_DUMPABLE = 4


def close_memory() -> None:
    """Close this process's memory and environment, with its keys, to others of the same user (Linux).

    The processes it starts are open as before.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415  (other systems pay nothing)

    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def exclude_directory() -> None:
    """Remove the working directory from the search paths of modules and programs.

    A stray `:` in PYTHONPATH or PATH, or `python -m`, puts it there.
    """
    try:
        here = os.getcwd()  # noqa: PTH109  (`--version` does not pay for pathlib)
    except FileNotFoundError:
        here = ""
    own = __file__
    for _ in range(3):
        own = os.path.dirname(own)  # noqa: PTH120
    sys.path[:] = [one for one in sys.path if one == own or one not in ("", ".", here)]
    folders = os.environ.get("PATH", "").split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(one for one in folders if os.path.isabs(one))  # noqa: PTH117
