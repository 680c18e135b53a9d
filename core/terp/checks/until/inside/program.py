"""Runs a solution as a program, with a file for stdin and one for stdout."""

from __future__ import annotations

import builtins
import os
import sys
import types

from . import channel
from .failing import SOLUTION, failure


def connect(folder: str) -> None:
    """Let stdin and stdout be files in `folder`."""
    read = os.open(os.path.join(folder, "input"), os.O_RDONLY)  # noqa: PTH118
    written = os.open(os.path.join(folder, "output"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # noqa: PTH118
    os.dup2(read, 0)
    os.dup2(written, 1)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def main() -> None:
    """Run it as `__main__`; its exit status is that of the process."""
    folder = os.environ.pop(channel.VARIABLE, "")
    with open(os.path.join(os.path.dirname(__file__), "prelude.py")) as file:  # noqa: PTH118, PTH120, PTH123
        prelude = file.read()
    with open(SOLUTION, encoding="utf-8") as file:  # noqa: PTH123
        solution = file.read()
    connect(folder)
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = module
    try:
        exec(prelude, module.__dict__)  # noqa: S102
        exec(compile(solution, SOLUTION, "exec"), module.__dict__)  # noqa: S102
    except Exception as error:  # noqa: BLE001  # whatever it raises is told without what is not its own
        sys.stderr.write(failure(error))
        sys.exit(1)
    finally:
        sys.stdout.flush()
