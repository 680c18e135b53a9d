"""Restores a terminal when terp is killed.

    with guarding(descriptor, environ) as guard:
        guard.stay()                    # when the prompt is there
        guard.given()                   # the shell or an editor uses the terminal now
        guard.taken(window.closed())    # terp uses it again; this is written too if it dies

A small process waits for the end of a pipe from terp, which comes even after `kill -9`. It must be quick:
zsh keeps the modes that it finds when its program dies, 0.1 ms later. But a Python takes 15 ms to start,
so until `stay` a shell of 0.1 MB waits in its place.
"""

import os
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from terp_cli.terminal import restorer, tty

# No synchronised frame, no marks around pastes, no reports of the focus; rows wrap, the cursor is visible,
# the style is plain, and the live rows below are erased.
_IN_ORDER = "\x1b[?2026l\x1b[?2004l\x1b[?1004l\x1b[?7h\x1b[?25h\x1b[m\r\n\x1b[J"
_WAITS = """
trap '' HUP INT QUIT TERM TSTP TTIN TTOU
cd /
while read -r word rest && [ "$word" != stay ]; do state=$word undo=$rest; done
[ "$word" = stay ] || [ "$state" = taken ] || exit 0
exec "$@" "$state" "$undo"
"""


class Guard:
    """Connection to the waiting process, which must know who uses the terminal."""

    def __init__(self, descriptor: int, environ: Mapping[str, str]) -> None:
        """Start the process that restores the terminal behind `descriptor` to its present modes.

        Raises:
            OSError: the process could not be started.
            termios.error: it is no terminal.
        """
        modes = restorer.written(restorer.modes_of(descriptor))
        order = _IN_ORDER if tty.moves_cursor(environ) else ""
        program = [sys.executable, "-I", "-S", str(Path(restorer.__file__)), str(os.getpgrp()), modes, order]
        waits, self._pipe = os.pipe()
        try:
            self._process = os.posix_spawn(
                "/bin/sh",
                ["sh", "-c", _WAITS, "terp-terminal-guard", *program],
                {name: environ[name] for name in _NEEDED if name in environ},
                file_actions=[
                    # In this order: the terminal may be descriptor 0. Python's other descriptors close.
                    (os.POSIX_SPAWN_DUP2, descriptor, 1),
                    (os.POSIX_SPAWN_DUP2, waits, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                # Its own group keeps it from Ctrl-C; in its own session it would have no terminal.
                setpgroup=0,
            )
        except OSError:
            os.close(self._pipe)
            raise
        finally:
            os.close(waits)

    def stay(self) -> None:
        """Replace the shell by a Python, which reacts at once; costs 15 ms and some MB, once."""
        self._say("stay")

    def taken(self, undo: str = "") -> None:
        """Report that terp uses the terminal; if it dies, `undo`, one line, is written too."""
        self._say(f"taken {undo}")

    def given(self) -> None:
        """Report that another program uses the terminal, which is then left alone."""
        self._say("given")

    def close(self) -> None:
        """End the waiting process; the terminal is in order."""
        self.given()
        os.close(self._pipe)
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)

    def _say(self, line: str) -> None:
        # The process may have been killed.
        with suppress(OSError):
            os.write(self._pipe, f"{line}\n".encode())


class Unguarded:
    """Stand-in for a guard where there is no terminal, or no process could be started."""

    def stay(self) -> None:
        """Do nothing."""

    def taken(self, undo: str = "") -> None:
        """Do nothing."""

    def given(self) -> None:
        """Do nothing."""


@contextmanager
def guarding(descriptor: int | None, environ: Mapping[str, str]) -> Iterator[Guard | Unguarded]:
    """Guard the terminal behind `descriptor`, if there is one, until the context ends."""
    try:
        if descriptor is None or not sys.executable:
            raise OSError
        guard = Guard(descriptor, environ)
    except (OSError, termios.error):
        yield Unguarded()
        return
    guard.taken()
    try:
        yield guard
    finally:
        guard.close()


# A Python may need these to find its library.
_NEEDED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class TerminalListener:
    """Listener to the use of the terminal and the focus of its window; a subclass acts."""

    def taken(self) -> None:
        """Handle that terp reads keys (again)."""

    def given(self) -> None:
        """Handle that the shell or another program uses the terminal."""

    def kept(self) -> None:
        """Handle that no keys are read, while the terminal still has changed modes."""

    def focused(self, has_focus: bool) -> None:
        """Handle that the window got or lost the focus."""
