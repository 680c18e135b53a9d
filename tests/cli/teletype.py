"""Programs on a pseudo-terminal of their own, which they control as they would a real one."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from terp_cli.terminal.restorer import Modes, modes_of

_TIMEOUT_S = 30.0
# Somebody has to own the terminal as a shell does: it hangs up when the leader of its session dies. The
# program and whoever it starts without closing descriptors hold a pipe, by whose end the owner knows theirs.
_OWNER = """
import os, signal, sys
ended, held = os.pipe()
os.set_inheritable(held, True)
tty = os.open(os.ttyname(0), os.O_RDWR)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
program = os.fork()
if program == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.write(1, b"<pid %d>" % os.getpid())
    os.execvp(sys.argv[1], sys.argv[1:])
os.close(held)
status = os.waitpid(program, 0)[1]
os.read(ended, 1)
os.write(1, b"<over %d>" % os.waitstatus_to_exitcode(status))
signal.pause()
"""


class Teletype:
    """Runs a command on a terminal, which it changes as it likes."""

    def __init__(self, command: list[str], cwd: Path, env: Mapping[str, str]) -> None:
        self._hand, line = pty.openpty()
        self.before: Modes = modes_of(self._hand)
        self._shown = b""
        self._owner = subprocess.Popen(
            [sys.executable, "-c", _OWNER, *command],
            cwd=cwd,
            env=env,
            stdin=line,
            stdout=line,
            stderr=line,
            start_new_session=True,
        )
        os.close(line)
        self.until("<pid ")
        self.pid = int(self.until(">").removesuffix(">"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The program gets a SIGHUP by this, as when a window is closed.
        self._owner.kill()
        self._owner.wait()
        os.close(self._hand)

    @property
    def modes(self) -> Modes:
        """The terminal's modes, as they are now."""
        return modes_of(self._hand)

    def types(self, text: str, encoding: str = "utf-8") -> None:
        """Press these keys."""
        os.write(self._hand, text.encode(encoding))

    def until(self, mark: str) -> str:
        """Return the text from here to the end of the first `mark`."""
        while mark.encode() not in self._shown:
            self._read()
        before, _, self._shown = self._shown.partition(mark.encode())
        return before.decode(errors="replace") + mark

    def over(self) -> tuple[str, int]:
        """Return the text until the program and its helpers have ended, and the exit code."""
        shown = self.until("<over ").removesuffix("<over ")
        return shown, int(self.until(">").removesuffix(">"))

    def until_changed(self) -> None:
        """Return when the modes are others than at first."""
        deadline = time.monotonic() + _TIMEOUT_S
        while self.modes == self.before:
            # Nothing tells of a change of modes; what is written meanwhile is kept.
            assert time.monotonic() < deadline, self._shown
            if select.select([self._hand], [], [], 0.001)[0]:
                self._read()

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End the program, by default in the way that it cannot notice."""
        os.kill(self.pid, number)

    def _read(self) -> None:
        assert select.select([self._hand], [], [], _TIMEOUT_S)[0], self._shown
        self._shown += os.read(self._hand, 65_536)
