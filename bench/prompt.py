"""From the shell to a prompt that takes a line: terp against IPython, each on a terminal of its own."""

import fcntl
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.measure import TERP, Row, environment, medians, ratio, show

CONTROL = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()].|\x1b[=>]")
PROMPT = "› ".encode()
_KEYS = b"zq"
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

    def types(self, keys: bytes) -> None:
        """Press these keys."""
        os.write(self._ours, keys)

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


@dataclass(frozen=True)
class Start:
    """A program with its prompt, and with the last that it shows when it starts.

    `echoes` are the seconds until a key typed at once was shown, `peaks` the memory when all was there.
    """

    command: Sequence[str]
    prompt: bytes
    last: bytes = _KEYS
    echoes: list[float] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)

    def ready(self, cwd: Path, env: Mapping[str, str]) -> float:
        """Seconds to the prompt."""
        terminal = Terminal(self.command, cwd, env)
        try:
            seconds = terminal.until(self.prompt)
            terminal.types(_KEYS)
            self.echoes.append(terminal.until(_KEYS) - seconds)
            terminal.until(self.last)
            if Path("/proc/self/status").exists():
                self.peaks.append(terminal.peak_mb())
        finally:
            terminal.close()
        return seconds


def rows(rounds: int = 7) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        cwd = Path(folder)
        env = environment(TERP_HOME=folder, IPYTHONDIR=folder, OPENAI_API_KEY="unused")
        terp = Start([*TERP, "-m", "openai/gpt-4o"], PROMPT, b"No sandbox")
        ipython = Start([sys.executable, "-m", "IPython", "--no-banner"], b"In [1]: ")
        cases: dict[str, Callable[[], float]] = {
            "terp": lambda: terp.ready(cwd, env),
            "ipython": lambda: ipython.ready(cwd, env),
        }
        taken = medians(rounds, cases)
    yield ratio("prompt ready", "IPython", taken["terp"], taken["ipython"], 0.75)
    # terp opens its session then; IPython has nothing left to do.
    echo, other = (statistics.median(start.echoes) * 1e3 for start in (terp, ipython))
    yield Row("  a key, typed at once, shown", echo, "ms", 100, f"IPython {other:.0f} ms")
    if terp.peaks:
        yield Row("memory at the prompt", max(terp.peaks), "MB", 38, f"IPython {max(ipython.peaks):.0f} MB")


if __name__ == "__main__":
    show(str(__doc__), rows())
