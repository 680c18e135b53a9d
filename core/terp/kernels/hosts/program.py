"""A process that runs code for a host: what it puts out, what it is told, and how it ends."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from terp.kernels.hosts.processes import descendants, how_ended, passed_on, send
from terp.kernels.hosts.starting import end_with_parent
from terp.kernels.hosts.streams import Printer, Source
from terp.kernels.hosts.wires import Wires

STATUS_UNKNOWN = 199
"""The exit status of a driver that cannot tell with which status the code has ended its program."""


class Program:
    """A process in a session of its own, with a pipe for each stream.

    `stdin` is a descriptor, or -1 for none. `given` are descriptors that it gets besides; they are closed
    here. `ended` is called in another thread when it is gone.

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
                # So that it ends with this process whatever happens to it.
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
        self._sources = (Source(out, "stdout", printer), Source(err, "stderr", printer))
        for source in self._sources:
            wires.add_source(source)
        threading.Thread(target=self._wait, args=(ended,), daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """How it ended, negative for a signal; None while it lives."""
        return self._process.returncode

    def print_to(self, printer: Printer) -> None:
        """From now on what it puts out belongs to another cell."""
        for source in self._sources:
            source.printer.flush()
            source.printer = printer

    def drain(self) -> None:
        """Read what it has put out until now."""
        self._wires.drain(*self._sources)

    def interrupt(self, *, alone: bool = False) -> None:
        """Send SIGINT to it and to what it runs; `alone` to nothing else."""
        with suppress(ProcessLookupError):
            (os.kill if alone else os.killpg)(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """End it and all that it has started, as far as that is still below it. In any thread."""
        below = descendants(self.pid)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        send(signal.SIGKILL, below)

    def directory(self) -> str:
        """Where it is now; "" where that is not told."""
        try:
            return str(Path("/proc", str(self.pid), "cwd").readlink())
        except OSError:
            return ""

    def how_ended(self) -> str:
        """How it ended, to be put after its name."""
        return "ended" if self.code == STATUS_UNKNOWN else how_ended(self.code or 0)

    def _wait(self, ended: Callable[[], None]) -> None:
        self._process.wait()
        ended()
