"""How terp compares on this machine, in one run: `python -m bench`; one alone: `python -m bench.start`."""

import sys
from pathlib import Path

# What is measured is this checkout, whether or not it is installed.
sys.path[:0] = [str(Path(__file__).resolve().parent.parent / tree) for tree in ("core", "cli")]
