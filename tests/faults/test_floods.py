"""More output and more input than any memory holds."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Terp, to
from tests.faults.adopting import ON_LINUX
from tests.faults.figures import Figure
from tests.loopback import Call, Loopback, Stalled

pytestmark = [ON_LINUX, pytest.mark.faults]

PATIENCE_S = 240.0
MOST_GROWTH_MB = 64
_ZEROS = "head -c 1000000000 /dev/zero | tr '\\0' 'x'"
FLOODS = {
    "10 GB in lines": ("python", "line = 'x' * 99_999\nfor _ in range(100_000): print(line)"),
    "1 GB past Python": ("python", f"import os; os.system({_ZEROS!r})"),
    "1 GB of a shell": ("shell", _ZEROS),
    "a million lines": ("python", "for number in range(1_000_000): print(number)"),
    "a repr of 500 MB": ("python", "'x' * 500_000_000"),
}


class Watched:
    """A turn in two runs, of which the first prepares and the second floods."""

    def __init__(self, process: subprocess.Popen[Any], server: Loopback) -> None:
        self._process, self._server = process, server

    def most_mb_at_request(self, number: int) -> float:
        """What the program has taken of memory at most when it has sent this request."""
        deadline = int(PATIENCE_S / 0.02)
        while len(self._server.requests) < number:
            assert deadline, "it takes too long"
            assert self._process.poll() is None
            deadline -= 1
            try:
                self._process.wait(0.02)
            except subprocess.TimeoutExpired:
                continue
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


@contextmanager
def watched(terp: Terp, language: str, code: str) -> Iterator[Watched]:
    wait = "import time; time.sleep(0.3)\n" if language == "python" else "sleep 0.3\n"
    calls = [Call(language=language, code=wait), Call(language=language, code=wait + code)]
    with Loopback([*([call] for call in calls), Stalled(300)]) as server:
        # Nobody reads along: whoever reads slowly is the one who is waited for.
        process = subprocess.Popen(
            [sys.executable, "-m", "terp_cli", *to(server), "-y", "go"],
            cwd=terp.cwd,
            env=terp.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with process:
            yield Watched(process, server)
            process.kill()


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_costs_little_memory(terp: Terp, name: str, figure: Figure) -> None:
    with watched(terp, *FLOODS[name]) as turn:
        before = turn.most_mb_at_request(2)
        growth = turn.most_mb_at_request(3) - before
    figure(f"{name}: terp grew by {growth:.0f} MB")
    assert growth <= MOST_GROWTH_MB


def test_a_gigabyte_on_stdin_is_cut_with_a_line_and_costs_little_memory(terp: Terp, figure: Figure) -> None:
    code = "import os; print(os.path.getsize(stdin_path))"
    with (
        subprocess.Popen(["head", "-c", "1200000000", "/dev/zero"], stdout=subprocess.PIPE) as source,
        Loopback([Call(code=code), Stalled(300)]) as server,
    ):
        assert source.stdout is not None
        process = terp.start(*to(server), "-y", "count", stdin=source.stdout.fileno())
        source.stdout.close()
        most = Watched(process, server).most_mb_at_request(2)
        told = server.requests[1]["messages"][-1]["content"]
        process.kill()
        _, notes = process.communicate()
    figure(f"a gigabyte on stdin: terp took {most:.0f} MB at most")
    assert told == str(1024**3)
    assert "the rest of it is left out" in notes
    assert most < 400
