"""The parent process of a kernel: kills the kernel's descendants when it ends, and the kernel when terp ends.

    python -I -S supervisor.py DIRECTORY ENDING… -- COMMAND…

A separate program between terp and the kernel. All descendants of the kernel stay below it: on Linux also
those that have left its process group, session and environment, because orphans become its children.

stdin is a socket to terp. The pid of the kernel is written there, or a negative errno if it cannot be
started. When the socket closes, terp has ended; then DIRECTORY is removed and ENDING run. A pipe also works,
without the pid. This process ends with the exit status or signal of the kernel.
"""

import _signal  # type: ignore[import-not-found]
import _thread
import os
import sys
import time

_ADOPT_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""
# The start of the kernel waits for this process: importing `signal`, with names for these, takes 5 ms.
_HANG_UP, _INTERRUPT, _KILL, _PIPE, _TERMINATE, _FILE_SIZE = 1, 2, 9, 13, 15, 25
# Signals that Python ignores; the kernel must not inherit that.
_PYTHONS_OWN = (_PIPE, _FILE_SIZE)
# A process that is not killed within this time belongs to another user, or waits for a disk.
_PATIENCE_S = 0.5


def supervise(directory: str, ending: list[str], command: list[str]) -> None:
    """Run the command to its end; does not return."""
    kernel = _started(command)
    # Done before terp gets the pid: no code runs earlier.
    _adopt_orphans()
    _ignore_signals()
    _send(kernel)
    # Keep no working directory in use.
    os.chdir("/")
    left: list[bool] = []
    _thread.start_new_thread(_watch, (left,))
    status = _ended(kernel)
    _end_below(kernel)
    if left and directory:
        import shutil  # noqa: PLC0415  (an orderly end has no need of it)

        shutil.rmtree(directory, ignore_errors=True)
    if left and ending:
        os.execvp(ending[0], ending)  # noqa: S606  (there is nothing else to do)
    _end_like(status)


def _adopt_orphans() -> None:
    try:
        import ctypes  # noqa: PLC0415  (some Pythons lack it)

        ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        # Not Linux: what leaves the group of the kernel is out of reach.
        return


def _started(command: list[str]) -> int:
    if os.environ.get("JPY_PARENT_PID") == str(os.getppid()):
        # ipykernel ends itself when this is no longer its parent.
        os.environ["JPY_PARENT_PID"] = str(os.getpid())
    try:
        kernel = os.posix_spawnp(
            command[0],
            command,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)],
            setsid=True,
            setsigdef=_PYTHONS_OWN,
        )
    except OSError as error:
        os.write(2, f"{command[0]} cannot be started: {error.strerror}\n".encode())
        _send(-(error.errno or 1))
        os._exit(127)
    return kernel


def _ignore_signals() -> None:
    """Ignore signals that the code may send to its parent."""
    for number in (_HANG_UP, _INTERRUPT, _TERMINATE):
        _signal.signal(number, _signal.SIG_IGN)


def _send(number: int) -> None:
    try:
        os.write(0, b"%d\n" % number)
    except OSError:
        # terp has ended, which is noticed next.
        return


def _watch(left: list[bool]) -> None:
    """Kill the kernel when terp has ended."""
    try:
        while os.read(0, 64):
            pass
    except OSError:
        # The same as its end.
        pass
    left.append(True)
    _kill(_below())


def _ended(kernel: int) -> int:
    """Return the exit status of the kernel; reap other processes that end meanwhile."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == kernel:
            return status


def _end_below(group: int) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        _kill([-group])
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            # Nothing is below, as mostly: looking through all processes takes 5 ms.
            return
        _kill(_below())
        time.sleep(0.001)


def _kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, _KILL)
        except OSError:
            # It has ended, or belongs to another user.
            continue


def _below() -> list[int]:
    """Return all processes below this one, the nearest first; none without /proc."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():  # noqa: PTH112, PTH208
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123  (pathlib takes 5 ms to import)
                # The name of the program comes before, in parentheses, and may have any others in it.
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if name.isdigit():
            children.setdefault(parent, []).append(int(name))
    found = list(children.get(os.getpid(), ()))
    for pid in found:
        # The list grows while it is walked.
        found += children.get(pid, ())
    return found


def _end_like(status: int) -> None:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        import resource  # noqa: PLC0415  (see above)

        # The kernel itself has written its core, if that is enabled.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if code != -_KILL:
            _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    _at = sys.argv.index("--")
    supervise(sys.argv[1], sys.argv[2:_at], sys.argv[_at + 1 :])
