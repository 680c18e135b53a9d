"""Evaluate the expression of a check and report whether its value is true."""

from __future__ import annotations

import builtins
import importlib
import os
import sys
from typing import Any

from . import VARIABLE, shown, take_channel

LONGEST = 500


class ImportedNames(dict):  # type: ignore[type-arg]
    """The namespace of an expression: an unknown name is imported as a module of that name."""

    def __missing__(self, name: str) -> Any:
        """Return the module `name`.

        Raises:
            KeyError: there is none, or `name` is a builtin.
        """
        if hasattr(builtins, name):
            raise KeyError(name)
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name == name:
                raise KeyError(name) from None
            raise


def import_submodules(code: Any) -> None:
    """Import the modules of packages that dotted names of the expression refer to."""
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
    """Evaluate, report, and end at once: exit handlers of the project must not change the outcome."""
    import ast  # noqa: PLC0415

    # Taken before the project's code runs, which could put others in their place.
    report, evaluate, truth = take_channel(), eval, bool
    os.environ.pop(VARIABLE, None)
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    tree = ast.parse(text, mode="eval")
    code = compile(tree, "<check>", "eval")
    import_submodules(tree)
    value = evaluate(code, {"__builtins__": builtins}, ImportedNames())
    holds = truth(value)
    report(holds=holds, value=shown(value, LONGEST))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if holds else 1)
