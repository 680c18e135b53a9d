"""The terminal device: its size, its colours, and its modes while terp draws or reads keys."""

import os
import termios
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TextIO

from terp_cli.terminal.painter import Painter

if TYPE_CHECKING:
    from rich.color import ColorSystem

_DUMB = ("dumb", "unknown", "")
_TRUE_COLOUR = ("truecolor", "24bit")


def size_of(out: TextIO) -> tuple[int, int]:
    """Return the present columns and rows; 80×24 if they are unknown."""
    try:
        columns, rows = os.get_terminal_size(out.fileno())
    except (OSError, ValueError):
        return 80, 24
    return columns or 80, rows or 24


def moves_cursor(environ: Mapping[str, str]) -> bool:
    """Return True if the terminal can repaint a line."""
    return environ.get("TERM", "") not in _DUMB


def colours_of(environ: Mapping[str, str]) -> "ColorSystem | None":
    """Return the colours of a terminal with this environment; NO_COLOR wins, then FORCE_COLOR."""
    from rich.color import ColorSystem  # noqa: PLC0415  (the prompt is shown before rich is needed)

    if environ.get("NO_COLOR") or (not moves_cursor(environ) and not environ.get("FORCE_COLOR")):
        return None
    if environ.get("COLORTERM", "").lower() in _TRUE_COLOUR:
        return ColorSystem.TRUECOLOR
    return ColorSystem.EIGHT_BIT if has_256_colours(environ) else ColorSystem.STANDARD


def has_256_colours(environ: Mapping[str, str]) -> bool:
    """Return True for a terminal of 256 colours or more, False for one of sixteen."""
    if environ.get("COLORTERM", "").lower() in _TRUE_COLOUR:
        return True
    name = environ.get("TERM", "")
    return "256color" in name or "kitty" in name or "direct" in name


def painter_on(out: TextIO, environ: Mapping[str, str]) -> Painter:
    """Return a painter for the terminal behind `out`."""
    return Painter(out, lambda: size_of(out), live=moves_cursor(environ))


def controlling() -> int | None:
    """Open the controlling terminal; return its descriptor, None if there is none."""
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None


def is_controlling(out: TextIO) -> bool:
    """Return True if `out` writes to the controlling terminal."""
    try:
        # Only the processes that a terminal controls can read its foreground group.
        os.tcgetpgrp(out.fileno())
    except (OSError, ValueError):
        return False
    return True


def as_before(descriptor: int | None) -> AbstractContextManager[None]:
    """Restore the present modes of the terminal at the end, also after a signal."""
    return _changed(descriptor)


def unechoed(descriptor: int | None) -> AbstractContextManager[None]:
    """Do not echo typed keys meanwhile: they would appear in the middle of the drawing.

    They stay for the next reader. Ctrl-C and Ctrl-Z still work.
    """
    # Enter must stay a carriage return; a prompt reads a line feed as Ctrl+J.
    return _changed(descriptor, off_input=termios.ICRNL, off_local=termios.ECHO | termios.ICANON)


def unseen(descriptor: int | None) -> AbstractContextManager[None]:
    """Do not echo typed keys meanwhile; lines are read as before."""
    return _changed(descriptor, off_local=termios.ECHO)


class TypedAhead:
    """Keys typed before the first prompt: kept for it unchanged and without echo; Ctrl-C still works.

    The terminal's line editing would turn Enter into a line feed, lose Ctrl-D, and show the letters a second
    time, above the prompt. It does nothing if the descriptor is None.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._quiet = ExitStack()

    def __enter__(self) -> Self:
        self._quiet.enter_context(unechoed(self._descriptor))
        return self

    def __exit__(self, *_: object) -> None:
        self.hand_over()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Let the terminal edit lines as usual, for a question before the prompt."""
        self.hand_over()
        try:
            yield
        finally:
            self.__enter__()

    def hand_over(self) -> None:
        """Restore the terminal's modes for the next reader, which gets the typed keys."""
        self._quiet.close()


def drop_typed(descriptor: int | None) -> None:
    """Discard typed keys that were not read yet."""
    if descriptor is not None:
        with suppress(termios.error):
            termios.tcflush(descriptor, termios.TCIFLUSH)


@contextmanager
def _changed(descriptor: int | None, *, off_input: int = 0, off_local: int = 0) -> Iterator[None]:
    before = None if descriptor is None else _modes(descriptor)
    if descriptor is None or before is None:
        yield
        return
    if off_input or off_local:
        changed = [before[0] & ~off_input, *before[1:3], before[3] & ~off_local, *before[4:]]
        _set_modes(descriptor, changed)
    try:
        yield
    finally:
        _set_modes(descriptor, before)


# The terminal may be gone at any time, and termios.error is no OSError.
def _modes(descriptor: int) -> list[Any] | None:
    try:
        return termios.tcgetattr(descriptor)
    except termios.error:
        return None


def _set_modes(descriptor: int, modes: list[Any]) -> None:
    with suppress(termios.error):
        termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
