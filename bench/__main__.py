"""All benches, one after the other; how many targets of this run were missed."""

import sys
from importlib import import_module

from bench.measure import show

BENCHES = (
    "start",
    "prompt",
    "memory",
    "oneshot",
    "streaming",
    "arguments",
    "markdown",
    "rendering",
    "effects",
    "history",
    "requests",
    "sessions",
    "server",
    "page",
    "crowd",
    "kernel",
    "shell",
    "namespace",
    "rewinding",
    "sandbox",
    "holding",
)


def main() -> None:
    print(f"Python {sys.version.split()[0]}; medians; the targets are ratios, single times drift.")
    missed = 0
    for name in BENCHES:
        bench = import_module(f"bench.{name}")
        missed += show(str(bench.__doc__), bench.rows())
    print(f"\n{missed} targets missed" if missed else "\nall targets met")


if __name__ == "__main__":
    main()
