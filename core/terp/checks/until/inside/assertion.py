"""Runs a solution and one test of it, and tells whether the test has come to its end."""

from __future__ import annotations

import ast
import builtins
import os
import sys
import types
from typing import Any

from . import channel
from .failing import SOLUTION, TEST, failure

LONGEST = 300
_COMPARED = """
_terp_left = 0
_terp_right = 0
assert _terp_left == _terp_right, _terp_told(_terp_left, _terp_right)
"""


def compared(tree: ast.Module) -> ast.Module:
    """The test, whose last assert tells both values where it says that they are equal."""
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Assert) or last.msg is not None or not isinstance(last.test, ast.Compare):
        return tree
    comparison = last.test
    if len(comparison.ops) != 1 or not isinstance(comparison.ops[0], ast.Eq):
        return tree
    told = ast.parse(_COMPARED).body
    for statement, value in zip(told, (comparison.left, comparison.comparators[0], last.test)):  # noqa: B905
        for node in ast.walk(statement):
            ast.copy_location(node, last)
        if isinstance(statement, ast.Assign):
            statement.value = value
    tree.body[-1:] = told
    return tree


def difference(left: Any, right: Any) -> str:
    """Both sides of a comparison, as text."""
    return f"{shown(left)} is not {shown(right)}"


def shown(value: Any) -> str:
    """A value as Python writes it, cut where that is long."""
    text = repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def run(names: dict[str, Any], prelude: str) -> None:
    """Run the solution, and then the test; what runs it is taken before a solution can put another there."""
    execute, told = exec, difference
    with open(SOLUTION, encoding="utf-8") as file:  # noqa: PTH123
        solution = file.read()
    with open(TEST, encoding="utf-8") as file:  # noqa: PTH123
        test = compile(compared(ast.parse(file.read(), TEST)), TEST, "exec")
    execute(prelude, names)
    execute(compile(solution, SOLUTION, "exec"), names)
    names["_terp_told"] = told
    execute(test, names)


def main() -> None:
    """Run, tell, and end at once: what a solution leaves for the end of its process says nothing."""
    tell, end = channel.take(), os._exit
    os.environ.pop(channel.VARIABLE, None)
    with open(os.path.join(os.path.dirname(__file__), "prelude.py")) as file:  # noqa: PTH118, PTH120, PTH123
        prelude = file.read()
    # Dataclasses, among others, look their module up by its name.
    module = types.ModuleType("solution")
    module.__dict__["__builtins__"] = builtins
    sys.modules["solution"] = module
    held, error = False, ""
    try:
        run(module.__dict__, prelude)
        held = True
    except BaseException as raised:  # noqa: BLE001  # SystemExit is no pass either
        error = failure(raised)
    tell(held=held, error=error)
    sys.stdout.flush()
    sys.stderr.flush()
    end(0 if held else 1)
