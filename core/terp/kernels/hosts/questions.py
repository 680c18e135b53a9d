"""Questions of programs beside the shell, askpass and `pty`, which reach the host through a socket."""

import json
import os
import shlex
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from terp.kernels.hosts.terminal_input import Ask
from terp.kernels.hosts.wires import Wires

# A program that connects says at once what it wants.
_READ_S = 1.0


class Questions:
    """A socket in `folder`, and the programs that use it; `waiting` tells whether one has connected."""

    def __init__(self, folder: Path, wires: Wires) -> None:
        self._path = folder / "ask"
        self._askpass = folder / "askpass"
        self._wires = wires
        self._listening = socket.socket(socket.AF_UNIX)
        self._path.unlink(missing_ok=True)
        self._listening.bind(str(self._path))
        self._listening.listen()
        self._listening.setblocking(False)
        self._waiting: list[socket.socket] = []
        wires.add(self._listening.fileno(), self._accept)
        program = str(Path(__file__).with_name("askpass.py"))
        write_script(self._askpass, (sys.executable, "-I", "-S", program, str(self._path)))

    @property
    def path(self) -> str:
        """The path of the socket."""
        return str(self._path)

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """What makes sudo, ssh and git ask here, unless the person has set something else."""
        ours = {name: str(self._askpass) for name in ("SUDO_ASKPASS", "SSH_ASKPASS", "GIT_ASKPASS")}
        return {**ours, "SSH_ASKPASS_REQUIRE": "force", **environ}

    @property
    def waiting(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._waiting)

    def settle(self, ask: Ask) -> None:
        """Answer all that wait; outside of a cell with nothing."""
        while self._waiting:
            connection = self._waiting.pop(0)
            with connection, suppress(OSError, ValueError):
                connection.settimeout(_READ_S)
                with connection.makefile("rb") as reading:
                    asked = json.loads(reading.readline())
                answer = ask(str(asked.get("prompt", "")), bool(asked.get("secret", True)))
                connection.sendall(json.dumps(answer).encode() + b"\n")

    def close(self) -> None:
        """Take no more questions."""
        self._wires.remove(self._listening.fileno())
        self._listening.close()

    def _accept(self) -> None:
        with suppress(BlockingIOError):
            connection, _ = self._listening.accept()
            os.set_inheritable(connection.fileno(), False)
            self._waiting.append(connection)


def write_script(path: Path, argv: Sequence[str], *, before: str = "") -> str:
    """Write a program that runs a command line with its own arguments at the end; its path, quoted.

    `before` is a line of shell that comes first.
    """
    path.write_text(f'#!/bin/sh\n{before}\nexec {shlex.join(argv)} "$@"\n')
    path.chmod(0o700)
    return shlex.quote(str(path))
