"""The modules that code imports, read from its tree."""

import ast
import sys
from collections.abc import Iterator

_MAY_FAIL = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def imported(tree: ast.AST) -> Iterator[str]:
    """The top-level modules that code imports, in order; of the standard library as well."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]


def needed(tree: ast.AST) -> tuple[str, ...]:
    """The modules without which the code fails: none of the standard library, none that it can do without."""
    spared = {name for block in _forgiving(tree) for statement in block.body for name in imported(statement)}
    found = dict.fromkeys(imported(tree))
    return tuple(name for name in found if name not in sys.stdlib_module_names and name not in spared)


def _forgiving(tree: ast.AST) -> Iterator[ast.Try]:
    """The `try` statements that go on when an import fails."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(_catches(handler.type) for handler in node.handlers):
            yield node


def _catches(caught: ast.expr | None) -> bool:
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(part is None or (isinstance(part, ast.Name) and part.id in _MAY_FAIL) for part in parts)
