"""Taking turns, medians, and one line per result with its target."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TERP = [sys.executable, "-c", "import sys; from terp_cli.main import main; sys.exit(main())"]


@dataclass(frozen=True)
class Row:
    """One result. Without a target it is there to be read."""

    what: str
    value: float
    unit: str
    target: float | None = None
    detail: str = ""

    def __str__(self) -> str:
        verdict = ""
        if self.target is not None:
            verdict = f"{'ok' if self.value <= self.target else 'MISS':4} (≤ {self.target:.3g})"
        return f"{self.what:28} {readable(self.value):>7} {self.unit:12} {verdict:14} {self.detail}".rstrip()


def readable(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio(what: str, to: str, ours: float, theirs: float, target: float | None = None) -> Row:
    """A row that compares two times in seconds."""
    return Row(
        what, ours / theirs, f"× {to}", target, f"{readable(ours * 1e3)} ms to {readable(theirs * 1e3)} ms"
    )


def medians(rounds: int, cases: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The median of each case, which take turns so that a slow moment meets all; one round warms up."""
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            seconds = case()
            if number:
                taken[name].append(seconds)
    return {name: statistics.median(times) for name, times in taken.items()}


def environment(**more: str) -> dict[str, str]:
    """The environment of a measured program: this checkout first, no key, settings of nobody."""
    paths = os.pathsep.join([str(ROOT / "core"), str(ROOT / "cli")])
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "PYTHONPATH": paths, "TERM": "xterm-256color", **more}


def wall(command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> float:
    """Seconds a program takes, from its start to its end; its output must not fail it."""
    began = time.perf_counter()
    ran = subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - began
    if ran.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return seconds


def show(title: str, rows: Iterable[Row]) -> int:
    """Print the rows; the number of missed targets."""
    print(f"\n{title.strip()}", flush=True)
    missed = 0
    for row in rows:
        print(f"  {row}", flush=True)
        missed += row.target is not None and row.value > row.target
    return missed
