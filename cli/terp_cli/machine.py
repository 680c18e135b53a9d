"""What this machine and this terminal can do, found without trying it on the person."""

import ctypes
import sys
from collections.abc import Mapping

# landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) tells the version (landlock(7)).
_LANDLOCK_CREATE_RULESET = 444
_ASK_VERSION = 1


def landlock_version() -> int:
    """The version of Landlock's interface in this kernel; 0 without it."""
    if not sys.platform.startswith("linux"):
        return 0
    version = ctypes.CDLL(None).syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    return max(0, int(version))


def image_protocol(environ: Mapping[str, str]) -> str:
    """The way this terminal shows pictures, by what it says of itself; "" when it says nothing."""
    kind, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if environ.get("TMUX") or kind.startswith("screen"):
        # A multiplexer swallows what it does not know.
        return ""
    if environ.get("KITTY_WINDOW_ID") or kind in ("xterm-kitty", "xterm-ghostty") or program == "ghostty":
        return "kitty"
    if program in ("iTerm.app", "WezTerm", "mintty"):
        return "iterm"
    if kind.startswith(("foot", "mlterm", "contour")):
        return "sixel"
    return ""
