"""The processes that a host starts, and those below them, from /proc (Linux) or psutil (elsewhere)."""

import os
import signal
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

# Set for the host by Jupyter or by ipykernel itself.
_NOT_PASSED = ("JPY_PARENT_PID", "JPY_SESSION_NAME", "PYDEVD_USE_FRAME_EVAL")
_JOB_SIGNALS = (signal.SIGINT, signal.SIGQUIT)


def children(pid: int) -> list[int]:
    """Return the direct children of a process; none if it has ended."""
    tasks = Path("/proc", str(pid), "task")
    try:
        found: list[int] = []
        for task in tasks.iterdir():
            found += map(int, (task / "children").read_text().split())
    except OSError:
        return [] if Path("/proc/self/task").exists() else _children_by_psutil(pid)
    return found


def descendants(pid: int, without: Collection[int] = ()) -> list[int]:
    """Return all processes below one, the nearest first; `without` are left out with all below them."""
    found = [child for child in children(pid) if child not in without]
    for child in found:
        # The list grows while it is walked.
        found += [below for below in children(child) if below not in without]
    return found


def is_job(pid: int) -> bool:
    """Return True if a process looks like a background job of a shell (`&`).

    A shell without job control lets such a process ignore SIGINT and SIGQUIT.
    """
    try:
        status = Path("/proc", str(pid), "status").read_text()
    except OSError:
        return False
    mask = next((int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigIgn:")), 0)
    return all(mask >> (number - 1) & 1 for number in _JOB_SIGNALS)


def send(signum: int, pids: Iterable[int]) -> None:
    """Signal processes; skip ones that have ended or belong to another user."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signum)


def passed_on(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the host's environment without Jupyter's variables, for programs that it starts."""
    return {name: value for name, value in environ.items() if name not in _NOT_PASSED}


def how_ended(code: int) -> str:
    """Return the end of a process as a phrase after its name; `code` is negative for a signal."""
    return f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit status {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _children_by_psutil(pid: int) -> list[int]:
    import psutil  # noqa: PLC0415 - on Linux nobody needs it

    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.Error:
        return []
