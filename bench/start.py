"""`terp --version` and `terp --help` against `python -c pass`."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import TERP, Row, environment, medians, ratio, show, wall


def rows(rounds: int = 9) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        cwd, env = Path(folder), environment(TERP_HOME=folder)
        taken = medians(
            rounds,
            {
                "python": lambda: wall([sys.executable, "-c", "pass"], cwd, env),
                "version": lambda: wall([*TERP, "--version"], cwd, env),
                "help": lambda: wall([*TERP, "--help"], cwd, env),
            },
        )
    yield ratio("terp --version", "python", taken["version"], taken["python"], 1.6)
    yield ratio("terp --help", "python", taken["help"], taken["python"], 2)


if __name__ == "__main__":
    show(str(__doc__), rows())
