"""What this machine can do."""

import ctypes
import sys

# landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) tells the version (landlock(7)).
_LANDLOCK_CREATE_RULESET = 444
_ASK_VERSION = 1


def landlock_version() -> int:
    """The version of Landlock's interface in this kernel; 0 without it."""
    if not sys.platform.startswith("linux"):
        return 0
    version = ctypes.CDLL(None).syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    return max(0, int(version))
