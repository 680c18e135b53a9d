"""Programs that run code for a kernel: the process, and the kernel class that controls it."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from traitlets import Unicode

from terp.kernels.hosts.kernel import HostCell, HostKernel, end_with_parent
from terp.kernels.hosts.processes import descendants, how_ended, passed_on, send
from terp.kernels.hosts.streams import OutputPipe, Printer, Wires

STATUS_UNKNOWN = 199
"""The exit status of a driver when the code has ended its program with an unknown status."""


class Program:
    """A process in a new session, with a pipe for each stream.

    `stdin` is a file descriptor, or -1 for none. `given` are further descriptors for it, which are closed
    here. `ended` is called in another thread when it has ended.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        cwd: str,
        wires: Wires,
        printer: Printer,
        *,
        stdin: int = -1,
        given: Sequence[int] = (),
        ended: Callable[[], None],
    ) -> None:
        out, its_out = os.pipe()
        err, its_err = os.pipe()
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=stdin if stdin >= 0 else subprocess.DEVNULL,
                stdout=its_out,
                stderr=its_err,
                pass_fds=given,
                cwd=cwd,
                env=passed_on(os.environ),
                start_new_session=True,
                # It ends with this process, however this process ends.
                preexec_fn=end_with_parent,  # noqa: PLW1509 - it makes one system call
            )
        except OSError:
            os.close(out)
            os.close(err)
            raise
        finally:
            for number in (its_out, its_err, *given):
                os.close(number)
        self._wires = wires
        self._sources = (OutputPipe(out, "stdout", printer), OutputPipe(err, "stderr", printer))
        for source in self._sources:
            wires.add_source(source)
        threading.Thread(target=self._wait, args=(ended,), daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; None while it lives."""
        return self._process.returncode

    def print_to(self, printer: Printer) -> None:
        """Send its output to another cell from now on."""
        for source in self._sources:
            source.printer.flush()
            source.printer = printer

    def drain(self) -> None:
        """Read its output until now."""
        self._wires.drain(*self._sources)

    def interrupt(self, *, alone: bool = False) -> None:
        """Send SIGINT to the process group; with `alone` only to the process."""
        with suppress(ProcessLookupError):
            (os.kill if alone else os.killpg)(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """Kill it and all processes below it. In any thread."""
        below = descendants(self.pid)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        send(signal.SIGKILL, below)

    def directory(self) -> str:
        """Return the current working directory; "" if it is not known."""
        try:
            return str(Path("/proc", str(self.pid), "cwd").readlink())
        except OSError:
            return ""

    def how_ended(self) -> str:
        """Return the end of the process as a phrase after its name."""
        return "ended" if self.code == STATUS_UNKNOWN else how_ended(self.code or 0)

    def _wait(self, ended: Callable[[], None]) -> None:
        self._process.wait()
        ended()


# Time limit for code to end after an interrupt. The adapter interrupts again after 2 s and kills the kernel
# after 5 s; a new program starts faster than a new kernel.
_PATIENCE_S = 1.5


class ProgramKernel(HostKernel):
    """The base class of kernels that run code with a program, which can be interrupted and can read input."""

    program = Unicode("", help="The program that runs the code, or compiles it: a path.").tag(config=True)
    language = Unicode("", help="The name of a language in `DRIVERS` or `COMPILERS`.").tag(config=True)

    def describe(self, mimetype: str, extension: str) -> None:
        """Set the facts about the kernel for Jupyter."""
        self.implementation = f"terp-{self.language}"
        self.language_info = {
            "name": self.language, "mimetype": mimetype, "file_extension": extension
        }  # fmt: skip

    def attend(
        self, cell: HostCell, program: Program, done: Callable[[], bool], *, alone: bool = False
    ) -> bool:
        """Serve the program until `done()` or its end; return True if it is done.

        An interrupt of the user sends it SIGINT, and kills it if that has no effect. With `alone` its
        children do not get the signal.
        """
        seen = self.interrupts
        kill_at: float | None = None
        if self.terminal is not None:
            self.terminal.begin()
        while not done() and program.code is None:
            self.wait(
                cell,
                lambda: done() or program.code is not None,
                None if kill_at is None else max(0.0, kill_at - time.monotonic()),
                None if self.terminal is None else self.terminal.next_look_s(),
            )
            if self.interrupts != seen:
                seen = self.interrupts
                program.interrupt(alone=alone)
                kill_at = kill_at or time.monotonic() + _PATIENCE_S
            if kill_at is not None and time.monotonic() >= kill_at:
                program.kill()
                kill_at = None
            if self.terminal is not None:
                self.terminal.look(program.pid, cell.printer, partial(self.ask, cell))
        # Its last output may not have been read yet.
        self.wires.wait(0)
        program.drain()
        return done()
