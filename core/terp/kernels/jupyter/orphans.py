"""Programs that end, with their descendants, when terp ends in any way."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from terp.kernels.jupyter import supervisor

MARK = "TERP_KERNEL"
"""Environment variable by which the descendants of a kernel are known, whatever session they are in."""

# A line on stdin ends the guard; the end of stdin without one means that terp was killed. A killed process
# may just have started another, so the search is repeated.
_GUARD = """
read line && exit 0
for look in 1 2 3 4 5; do
    found=$(grep -ls "TERP_KERNEL=$1" /proc/[0-9]*/environ)
    [ -n "$found" ] || exit 0
    for environ in $found; do
        pid=${environ#/proc/}
        kill -KILL "${pid%/environ}" 2>/dev/null
    done
done
"""


def supervised(command: Sequence[str], directory: str = "", afterwards: Sequence[str] = ()) -> Sequence[str]:
    """Return a command line that runs `command`, and kills it and its descendants when its stdin ends.

    Then `directory` is removed, and the command `afterwards` run.
    """
    return (sys.executable, "-I", "-S", supervisor.__file__, directory, *afterwards, "--", *command)


@contextmanager
def lifeline() -> Iterator[int]:
    """Yield the stdin for a supervised program, which ends with the context at the latest."""
    theirs, ours = os.pipe()
    try:
        yield theirs
    finally:
        os.close(ours)
        os.close(theirs)


class OrphanGuard:
    """A small shell that outlives terp briefly, and kills marked processes if terp is killed.

    For programs that another library starts, with their own stdin.
    """

    def __init__(self, mark: str) -> None:
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "terp-guard", mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """End the guard: the marked processes ended in an orderly way."""
        stdin = self._shell.stdin
        if stdin is None or stdin.closed:
            return
        try:
            stdin.write(b"done\n")
            stdin.close()
        except OSError:
            self._shell.kill()
        self._shell.wait()


def end_marked(mark: str) -> None:
    """Kill every process with this mark in its environment (Linux)."""
    wanted = f"{MARK}={mark}".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)
        except OSError:
            # It has ended, or belongs to another user.
            continue
