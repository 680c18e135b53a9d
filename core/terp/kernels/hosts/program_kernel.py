"""What the kernels of languages have in common that are run by a program of the person's machine."""

import os
import time
from collections.abc import Callable
from typing import Any

from traitlets import Unicode

from terp.kernels.hosts.kernel import Cell, HostKernel
from terp.kernels.hosts.program import Program
from terp.kernels.hosts.terminal_input import TerminalInput

# How long code may take to end after an interrupt. The adapter interrupts again after 2 s and ends the
# kernel after 5; a new program is there sooner than a new kernel.
_PATIENCE_S = 1.5


class ProgramKernel(HostKernel):
    """A kernel that runs code by a program: it is interrupted and killed, and gets answers when it reads."""

    program = Unicode("", help="The program that runs the code, or compiles it: a path.").tag(config=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.terminal = TerminalInput() if TerminalInput.works() else None

    @property
    def stdin(self) -> int:
        """The descriptor for the standard input of programs; -1 where it cannot be told that one reads."""
        return -1 if self.terminal is None else self.terminal.number

    def attend(self, cell: Cell, program: Program, done: Callable[[], bool], *, alone: bool = False) -> bool:
        """Serve the program until `done()` or its end; whether it is done.

        When the person interrupts it gets SIGINT, and is killed if that does not help; `alone` says that
        what it has started does not get the signal.
        """
        seen, written = self.interrupts, cell.printer.written
        kill_at: float | None = None
        self._begin_input()
        while not done() and program.code is None:
            waits = (
                None if kill_at is None else max(0.0, kill_at - time.monotonic()),
                None if self.terminal is None else self.terminal.next_look_s(),
            )
            shortest = min((wait for wait in waits if wait is not None), default=None)
            self.wait(cell, lambda: done() or program.code is not None, shortest)
            if self.interrupts != seen:
                seen = self.interrupts
                program.interrupt(alone=alone)
                kill_at = kill_at or time.monotonic() + _PATIENCE_S
            if kill_at is not None and time.monotonic() >= kill_at:
                program.kill()
                kill_at = None
            if cell.printer.written != written:
                written = cell.printer.written
                self._put_off()
            self._look(cell, program)
        # Its last words may still be on their way.
        self.wires.wait(0)
        program.drain()
        return done()

    def _begin_input(self) -> None:
        if self.terminal is not None:
            # Programs that read it their own way leave it so.
            os.set_blocking(self.terminal.number, True)
            self.terminal.begin()

    def _put_off(self) -> None:
        if self.terminal is not None:
            self.terminal.put_off()

    def _look(self, cell: Cell, program: Program) -> None:
        def ask(prompt: str, secret: bool) -> str | None:
            return self.ask(cell, prompt, secret=secret)

        if self.terminal is not None:
            self.terminal.look(program.pid, cell.printer.last_line, ask)
