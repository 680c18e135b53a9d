"""Puts a terminal in order when terp is killed and cannot do so itself.

    with guarding(descriptor, environ) as guard:
        guard.stay()                    # when the prompt is there
        guard.given()                   # the shell or an editor has the terminal now
        guard.taken(window.closed())    # terp has it again; with what else is to be written if it dies

A small process waits at a pipe for the end of terp, which the kernel tells it even after `kill -9`. It must
be quick: zsh keeps the modes that it finds when a program of its dies, and hears of it 0.1 ms later.
But a Python takes 15 ms to start, so until `stay` a shell of 0.1 MB waits in its place.
"""

import os
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from terp_cli.terminal import restorer, tty

# No synchronised frame, no marks around pastes, no reports of the focus; rows wrap, the cursor is seen, plain
# letters, and nothing of the live rows below.
_IN_ORDER = "\x1b[?2026l\x1b[?2004l\x1b[?1004l\x1b[?7h\x1b[?25h\x1b[m\r\n\x1b[J"
_WAITS = """
trap '' HUP INT QUIT TERM TSTP TTIN TTOU
cd /
while read -r word rest && [ "$word" != stay ]; do state=$word undo=$rest; done
[ "$word" = stay ] || [ "$state" = taken ] || exit 0
exec "$@" "$state" "$undo"
"""


class Guard:
    """Tells the process that waits who has the terminal, until terp ends in one way or another."""

    def __init__(self, descriptor: int, environ: Mapping[str, str]) -> None:
        """The terminal behind `descriptor` is to be as it is now.

        Raises:
            OSError: no process could be started.
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
                    # One after the other, so the terminal first: it may be 0. Python's other ones close.
                    (os.POSIX_SPAWN_DUP2, descriptor, 1),
                    (os.POSIX_SPAWN_DUP2, waits, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                # In a group of its own it is out of reach of Ctrl-C; in a session it would have no terminal.
                setpgroup=0,
            )
        except OSError:
            os.close(self._pipe)
            raise
        finally:
            os.close(waits)

    def stay(self) -> None:
        """Be quick from now on, at the cost of 15 ms of the machine and some MB. Once is enough."""
        self._say("stay")

    def taken(self, undo: str = "") -> None:
        """From now on terp has the terminal; should it die, `undo`, one line, is written too."""
        self._say(f"taken {undo}")

    def given(self) -> None:
        """From now on somebody else has it, and is not to be disturbed."""
        self._say("given")

    def close(self) -> None:
        """The terminal is in order: nothing is guarded any more."""
        self.given()
        os.close(self._pipe)
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)

    def _say(self, line: str) -> None:
        # Somebody may have killed it.
        with suppress(OSError):
            os.write(self._pipe, f"{line}\n".encode())


class Unguarded:
    """Where there is nothing to guard, or nobody to do it."""

    def stay(self) -> None:
        """Nothing."""

    def taken(self, undo: str = "") -> None:
        """Nothing."""

    def given(self) -> None:
        """Nothing."""


@contextmanager
def guarding(descriptor: int | None, environ: Mapping[str, str]) -> Iterator[Guard | Unguarded]:
    """Guard the terminal behind `descriptor`, if there is one, from now on and while the context lives."""
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


# A Python may need to find its own library.
_NEEDED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
