"""How the code of a cell is stopped: SIGINT, then SIGTERM, then SIGKILL, with the shell kept."""

import signal
import time

from terp.kernels.hosts.processes import descendants, is_job, send
from terp.kernels.hosts.shell_process import ShellProcess

# In seconds after the interrupt: when SIGINT is sent again to the shell and to what it has started since, and
# when the other signals follow. The adapter interrupts again after 2 s and ends the kernel after 5.
_AGAIN_S = (0.05, 0.1, 0.2, 0.35)
_TERM_S, _KILL_S, _KILL_EVERY_S = 0.5, 1.2, 0.25


class Ladder:
    """Climbs as long as the cell does not end. What earlier cells left running is not touched."""

    def __init__(self, shell: ShellProcess) -> None:
        self._shell = shell
        self._steps: list[tuple[float, signal.Signals]] = []
        self._told: set[int] = set()

    def begin(self) -> None:
        """The person wants the cell to end."""
        now = time.monotonic()
        self._told = set(self._shell.interrupt())
        again = [(now + after_s, signal.SIGINT) for after_s in _AGAIN_S]
        self._steps = [*again, (now + _TERM_S, signal.SIGTERM), (now + _KILL_S, signal.SIGKILL)]

    def next_step_s(self) -> float | None:
        """How long until `climb` has something to do; None when it has not."""
        return max(0.0, self._steps[0][0] - time.monotonic()) if self._steps else None

    def climb(self) -> None:
        """Take the next step if it is time."""
        if self.next_step_s() != 0.0:
            return
        due, signum = self._steps.pop(0)
        if signum == signal.SIGINT:
            self._again()
            return
        below = descendants(self._shell.pid, self._shell.jobs)
        # Jobs that this very cell has started are spared at first.
        send(signum, below if signum == signal.SIGKILL else [pid for pid in below if not is_job(pid)])
        # The shell goes on with the next command of the cell otherwise.
        send(signal.SIGINT, [self._shell.pid])
        if signum == signal.SIGKILL:
            self._steps.append((due + _KILL_EVERY_S, signum))

    def _again(self) -> None:
        """The shell may have missed the first, between two commands or while it read a line.

        What was told to end is left to do so.
        """
        self._told.update(self._shell.interrupt(without=self._told))
        self._shell.ask_verdict()
