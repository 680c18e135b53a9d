"""From the shell to a prompt that takes a line: terp against IPython, each on a terminal of its own."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from bench.measure import TERP, Row, environment, medians, ratio, show

CONTROL = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()].|\x1b[=>]")
PROMPT = "› ".encode()
CURSOR_ASKED, CURSOR_IS = b"\x1b[6n", b"\x1b[1;1R"


class Terminal:
    """A program on a pseudo-terminal of 120 × 40, which answers where the cursor is."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self.seen = b""

    def until(self, mark: bytes, timeout_s: float = 30.0) -> float:
        """Seconds from the start until the mark was drawn."""
        while mark not in CONTROL.sub(b"", self.seen):
            left = self.began + timeout_s - time.perf_counter()
            if left <= 0 or not select.select([self._ours], [], [], left)[0]:
                raise SystemExit(f"no {mark!r} within {timeout_s:g} s, but {self.seen!r}")
            if not self._read():
                raise SystemExit(f"no {mark!r}, and the program has ended: {self.seen!r}")
        return time.perf_counter() - self.began

    def to_its_end(self) -> None:
        """Return when the program has left the terminal."""
        while self._read():
            pass

    def _read(self) -> bool:
        """Take what the program has written; False when it has left."""
        try:
            piece = os.read(self._ours, 65536)
        except OSError:  # so says Linux
            return False
        self.seen += piece
        if CURSOR_ASKED in piece:
            os.write(self._ours, CURSOR_IS)
        return bool(piece)

    def peak_mb(self) -> float:
        """The most memory the program had at once, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


def ready(
    command: Sequence[str], mark: bytes, cwd: Path, env: Mapping[str, str], peaks: list[float]
) -> float:
    """Seconds to the prompt; the peak memory there is appended to `peaks`."""
    terminal = Terminal(command, cwd, env)
    try:
        seconds = terminal.until(mark)
        if Path("/proc/self/status").exists():
            peaks.append(terminal.peak_mb())
    finally:
        terminal.close()
    return seconds


def rows(rounds: int = 7) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        cwd = Path(folder)
        env = environment(TERP_HOME=folder, IPYTHONDIR=folder, OPENAI_API_KEY="unused")
        ipython = [sys.executable, "-m", "IPython", "--no-banner"]
        peaks: dict[str, list[float]] = {"terp": [], "ipython": []}
        cases: dict[str, Callable[[], float]] = {
            "terp": lambda: ready([*TERP, "-m", "openai/gpt-4o"], PROMPT, cwd, env, peaks["terp"]),
            "ipython": lambda: ready(ipython, b"In [1]: ", cwd, env, peaks["ipython"]),
        }
        taken = medians(rounds, cases)
    yield ratio("prompt ready", "IPython", taken["terp"], taken["ipython"], 0.8)
    if peaks["terp"]:
        yield Row(
            "memory at the prompt", max(peaks["terp"]), "MB", 60, f"IPython {max(peaks['ipython']):.0f} MB"
        )


if __name__ == "__main__":
    show(str(__doc__), rows())
