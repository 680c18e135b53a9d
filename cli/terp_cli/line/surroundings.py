"""Keeping the working directory out of this process: whose files lie there is not known yet."""

import os
import sys
from pathlib import Path


def leave_directory_out() -> None:
    """Have this process import no module and start no program because it lies in the working directory.

    A stray `:` in PYTHONPATH or PATH, or `python -m`, would make it do so.
    """
    try:
        here = os.getcwd()  # noqa: PTH109  (before all imports that can be done without)
    except FileNotFoundError:
        here = ""
    own = str(Path(__file__).parents[2])
    sys.path[:] = [one for one in sys.path if one == own or one not in ("", ".", here)]
    folders = os.environ.get("PATH", "").split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(one for one in folders if os.path.isabs(one))  # noqa: PTH117
