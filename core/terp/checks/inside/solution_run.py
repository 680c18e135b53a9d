"""Run a solution: with one test of it, or as a program with files for stdin and stdout."""

from __future__ import annotations

import ast
import builtins
import os
import sys
import traceback
import types
from typing import Any

from . import VARIABLE, shown, take_channel

SOLUTION, TEST = "solution.py", "test.py"
LONGEST = 300
_FRAMES = 8
_COMPARED = """
_terp_left = 0
_terp_right = 0
assert _terp_left == _terp_right, _terp_difference(_terp_left, _terp_right)
"""


def run_test() -> None:
    """Run a test, report, and end at once: exit handlers of the solution must not change the outcome."""
    report, end = take_channel(), os._exit
    os.environ.pop(VARIABLE, None)
    held, error = False, ""
    try:
        _run_both(_namespace("solution"))
        held = True
    except BaseException as raised:  # noqa: BLE001  # SystemExit is no pass either
        error = failure(raised)
    report(held=held, error=error)
    sys.stdout.flush()
    sys.stderr.flush()
    end(0 if held else 1)


def run_program() -> None:
    """Run the solution as `__main__`; its exit status is that of the process."""
    folder = os.environ.pop(VARIABLE, "")
    solution = _read(SOLUTION)
    _connect(folder)
    try:
        exec(compile(solution, SOLUTION, "exec"), _namespace("__main__"))  # noqa: S102
    except Exception as error:  # noqa: BLE001  # any error of the solution is shown without our own frames
        sys.stderr.write(failure(error))
        sys.exit(1)
    finally:
        sys.stdout.flush()


def failure(error: BaseException) -> str:
    """Return the traceback of an error, with only the lines of the solution and the test."""
    trace = traceback.TracebackException.from_exception(error)
    trace.stack = traceback.StackSummary.from_list(
        [frame for frame in trace.stack if frame.filename in (SOLUTION, TEST)][-_FRAMES:]
    )
    return "".join(trace.format(chain=False))


def compared(tree: ast.Module) -> ast.Module:
    """Change a test whose last statement asserts an equality, so that its error shows both values."""
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Assert) or last.msg is not None or not isinstance(last.test, ast.Compare):
        return tree
    comparison = last.test
    if len(comparison.ops) != 1 or not isinstance(comparison.ops[0], ast.Eq):
        return tree
    body = ast.parse(_COMPARED).body
    for statement, value in zip(body, (comparison.left, comparison.comparators[0], last.test)):  # noqa: B905
        for node in ast.walk(statement):
            ast.copy_location(node, last)
        if isinstance(statement, ast.Assign):
            statement.value = value
    tree.body[-1:] = body
    return tree


def difference(left: Any, right: Any) -> str:
    """Return both sides of a comparison, as text."""
    return f"{shown(left, LONGEST)} is not {shown(right, LONGEST)}"


def _run_both(names: dict[str, Any]) -> None:
    # Taken before the solution runs, which could put others in their place.
    execute, differ = exec, difference
    solution = _read(SOLUTION)
    test = compile(compared(ast.parse(_read(TEST), TEST)), TEST, "exec")
    execute(compile(solution, SOLUTION, "exec"), names)
    names["_terp_difference"] = differ
    execute(test, names)


def _namespace(name: str) -> dict[str, Any]:
    """Return the namespace of a new, registered module, with the prelude in it."""
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = builtins
    # Dataclasses, among others, look their module up by its name.
    sys.modules[name] = module
    prelude = os.path.join(os.path.dirname(__file__), "prelude.py")  # noqa: PTH118, PTH120
    exec(_read(prelude), module.__dict__)  # noqa: S102
    return module.__dict__


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return file.read()


def _connect(folder: str) -> None:
    """Replace stdin and stdout by the files `input` and `output` in `folder`."""
    read = os.open(os.path.join(folder, "input"), os.O_RDONLY)  # noqa: PTH118
    written = os.open(os.path.join(folder, "output"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # noqa: PTH118
    os.dup2(read, 0)
    os.dup2(written, 1)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
