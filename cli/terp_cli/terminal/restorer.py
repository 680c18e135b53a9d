"""The process that restores the terminal when terp has died (`terp_cli.terminal.guard`).

It runs as a separate program: stdin is the pipe from terp, stdout the terminal. It imports only modules of
Python's core. Its signals were set to be ignored before it was started.
"""

import os
import sys
import termios

Modes = list[int | list[int]]
"""Flags of input, output, control and local modes, two speeds, and the control characters."""


def modes_of(descriptor: int) -> Modes:
    """Return the present modes, as numbers."""
    *flags, characters = termios.tcgetattr(descriptor)
    return [*flags, [one if isinstance(one, int) else one[0] for one in characters]]


def restore(descriptor: int, group: int, before: Modes, killed: list[Modes]) -> None:
    """Set the modes `before`, unless another program uses the terminal since `group` died.

    An interactive shell notices the death too, and sets its own modes, which are none of `killed`.
    """
    now = modes_of(descriptor)
    if now in killed or (now != before and os.tcgetpgrp(descriptor) == group):
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


def terps(before: Modes) -> list[Modes]:
    """Return the modes that a killed terp leaves on a terminal whose modes were `before`.

    A turn is drawn without echo (`tty.unechoed`); prompt_toolkit reads key by key, and for a moment
    line by line while a line is written above its prompt.
    """
    silent = _changed(before, off_input=termios.ICRNL, off_local=termios.ECHO | termios.ICANON)
    local = termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG
    flow = termios.IXON | termios.IXOFF
    raw = _changed(
        before, off_input=flow | termios.ICRNL | termios.INLCR | termios.IGNCR, off_local=local, least=1
    )
    cooked = _changed(raw, on_input=termios.ICRNL, on_local=local)
    return [silent, raw, cooked]


def _changed(
    before: Modes,
    *,
    off_input: int = 0,
    off_local: int = 0,
    on_input: int = 0,
    on_local: int = 0,
    least: int | None = None,
) -> Modes:
    reads, writes, control, local, *speeds, characters = before
    assert isinstance(reads, int)
    assert isinstance(local, int)
    assert isinstance(characters, list)
    if least is not None:
        characters = [least if at == termios.VMIN else one for at, one in enumerate(characters)]
    return [
        reads & ~off_input | on_input,
        writes,
        control,
        local & ~off_local | on_local,
        *speeds,
        characters,
    ]


def written(modes: Modes) -> str:
    """Return the modes as one argument of a command."""
    *flags, characters = modes
    assert isinstance(characters, list)
    return " ".join(str(number) for number in [*flags, *characters])


def read(text: str) -> Modes:
    """Parse the modes that `written` wrote."""
    numbers = [int(number) for number in text.split()]
    return [*numbers[:6], numbers[6:]]


def wait_and_restore(group: int, before: Modes, order: str, state: str, undo: str) -> None:
    """Wait until terp has ended; if it used the terminal then, restore the modes and write `undo`."""
    unread, killed = b"", terps(before)
    while piece := os.read(0, 4096):
        *lines, unread = (unread + piece).split(b"\n")
        for line in lines:
            state, _, undo = line.decode().partition(" ")
    if state == "taken":
        restore(1, group, before, killed)
        os.write(1, (undo + order).encode())


if __name__ == "__main__":
    try:
        wait_and_restore(int(sys.argv[1]), read(sys.argv[2]), *sys.argv[3:])
    except (OSError, termios.error):
        # The terminal is gone.
        os._exit(1)
    os._exit(0)
