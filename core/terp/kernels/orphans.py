"""Ends what a kernel leaves running: its children, when it or terp itself is gone."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

MARK = "TERP_KERNEL"
"""Environment variable by which the descendants of a kernel are known, whatever session they are in."""

# A line means that all is well; the end of the input without one, that terp was killed.
_GUARD = """
read line && exit 0
[ -n "$1" ] && kill -KILL -- "-$1" 2>/dev/null
for environ in $(grep -ls "TERP_KERNEL=$2" /proc/[0-9]*/environ); do
    pid=${environ#/proc/}
    kill -KILL "${pid%/environ}" 2>/dev/null
done
[ -n "$3" ] && rm -rf -- "$3"
[ -n "$4" ] && rm -rf -- "$4"
shift 4
"$@"
"""


class Guard:
    """A small shell that outlives terp by a moment, to end a kernel's process group if terp is killed.

    The kernel itself ends with its parent anyway; its children would not. Without a `group` those with the
    mark are all there are to end, and without a `directory` there is none to remove, nor without a
    `temporary` one that it shares. `afterwards` is a command for what is left even then.
    """

    def __init__(
        self,
        group: int | None,
        mark: str,
        directory: Path | None,
        afterwards: Sequence[str] = (),
        temporary: str = "",
    ) -> None:
        given = (str(group or ""), mark, str(directory or ""), temporary, *afterwards)
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "terp-guard", *given],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """The kernel ended in an orderly way: there is nothing to guard any more."""
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
            # It ended meanwhile, or it is somebody else's.
            continue
