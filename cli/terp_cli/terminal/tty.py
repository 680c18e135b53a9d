"""The terminal itself: its size and colours, and its modes while terp draws."""

import os
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from terp_cli.terminal.painter import Painter

if TYPE_CHECKING:
    from rich.color import ColorSystem

_DUMB = ("dumb", "unknown", "")


def size_of(out: TextIO) -> tuple[int, int]:
    """Columns and rows as they are now; 80×24 where they cannot be asked for."""
    try:
        columns, rows = os.get_terminal_size(out.fileno())
    except (OSError, ValueError):
        return 80, 24
    return columns or 80, rows or 24


def moves_cursor(environ: Mapping[str, str]) -> bool:
    """Whether the terminal can paint a line again."""
    return environ.get("TERM", "") not in _DUMB


def colours_of(environ: Mapping[str, str]) -> "ColorSystem | None":
    """The colours a terminal with this environment has; NO_COLOR wins, then FORCE_COLOR."""
    from rich.color import ColorSystem  # noqa: PLC0415  (the prompt is there before rich is needed)

    if environ.get("NO_COLOR") or (not moves_cursor(environ) and not environ.get("FORCE_COLOR")):
        return None
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return ColorSystem.TRUECOLOR
    name = environ.get("TERM", "")
    if "256color" in name or "kitty" in name or "direct" in name:
        return ColorSystem.EIGHT_BIT
    return ColorSystem.STANDARD


def painter_on(out: TextIO, environ: Mapping[str, str]) -> Painter:
    """What draws on the terminal behind `out`."""
    return Painter(out, lambda: size_of(out), live=moves_cursor(environ))


def controlling() -> int | None:
    """A descriptor of the terminal that this process belongs to; None when there is none."""
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None


def is_controlling(out: TextIO) -> bool:
    """Whether what is written to `out` appears on the terminal that this process belongs to."""
    try:
        # A terminal tells its foreground group to nobody but those it controls.
        os.tcgetpgrp(out.fileno())
    except (OSError, ValueError):
        return False
    return True


@contextmanager
def as_before(descriptor: int | None) -> Iterator[None]:
    """Leave the terminal in the modes it has now, wherever in between a signal strikes."""
    with _changed(descriptor):
        yield


@contextmanager
def unechoed(descriptor: int | None) -> Iterator[None]:
    """Do not show what is typed meanwhile: it would land in the middle of what is drawn.

    It is kept for whoever reads next. Ctrl-C and Ctrl-Z still work.
    """
    # Enter stays what the Enter key sends; a prompt takes a line feed for Ctrl+J.
    with _changed(descriptor, off_input=termios.ICRNL, off_local=termios.ECHO | termios.ICANON):
        yield


@contextmanager
def unseen(descriptor: int | None) -> Iterator[None]:
    """Do not show what is typed meanwhile, which is read line by line as before."""
    with _changed(descriptor, off_local=termios.ECHO):
        yield


def drop_typed(descriptor: int | None) -> None:
    """Forget what was typed and not read yet."""
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


# The window may be gone at any time, and termios.error is no OSError.
def _modes(descriptor: int) -> list[Any] | None:
    try:
        return termios.tcgetattr(descriptor)
    except termios.error:
        return None


def _set_modes(descriptor: int, modes: list[Any]) -> None:
    with suppress(termios.error):
        termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
