"""What this process asks of its machine."""

import sys

_PR_SET_DUMPABLE = 4


def close_memory() -> None:
    """Close this process's memory and environment, with its keys, to others of the same user (Linux).

    What it starts is as open as ever.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415  (for who needs it)

    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
