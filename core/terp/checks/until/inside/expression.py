"""Evaluates the expression of a check, and tells whether it is true."""

from __future__ import annotations

import builtins
import importlib
import os
import sys
from typing import Any

from . import channel

LONGEST = 500


class Names(dict):  # type: ignore[type-arg]
    """The names of an expression: a module of the project, or an installed one, is imported by its name."""

    def __missing__(self, name: str) -> Any:
        """The module of that name."""
        if hasattr(builtins, name):
            raise KeyError(name)
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name == name:
                raise KeyError(name) from None
            raise


def imported(code: Any) -> None:
    """Import what the names behind a dot are, where they are modules of a package."""
    import ast  # noqa: PLC0415

    for node in ast.walk(code):
        parts = ast.unparse(node).split(".") if isinstance(node, ast.Attribute) else []
        for count in range(2, len(parts) + 1):
            path = ".".join(parts[:count])
            if parts[0].isidentifier() and parts[0] not in dir(builtins):
                try:
                    importlib.import_module(path)
                except ModuleNotFoundError:
                    break


def main(text: str) -> None:
    """Evaluate, tell, and end at once: what the project does at the end of its process says nothing."""
    import ast  # noqa: PLC0415

    # What the project puts in place of these says nothing.
    tell, evaluate, truth = channel.take(), eval, bool
    os.environ.pop(channel.VARIABLE, None)
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    tree = ast.parse(text, mode="eval")
    code = compile(tree, "<check>", "eval")
    imported(tree)
    value = evaluate(code, {"__builtins__": builtins}, Names())
    holds = truth(value)
    shown = repr(value)
    tell(holds=holds, value=shown if len(shown) <= LONGEST else shown[:LONGEST] + "…")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if holds else 1)
