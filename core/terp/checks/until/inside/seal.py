"""Whether what judges tests is as it was before code of the project ran: pytest, unittest, builtins."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

JUDGES = ("builtins", "pytest", "_pytest", "pluggy", "unittest")
# Python and pytest put these there themselves, when they are needed.
THEIR_OWN = frozenset({"unittest.IsolatedAsyncioTestCase", "pytest.xfail"})
INSTALLED = re.compile(r"(site|dist)-packages[/\\](?!_?pytest\b|pluggy\b)")


class Seal:
    """What can be called of the modules and classes that judge, and of some objects of pytest."""

    def __init__(self, **objects: Any) -> None:
        self._parts: list[tuple[str, Any, dict[str, Any]]] = []
        self._codes: dict[Any, Any] = {}
        # New names of these stand for nothing that was there.
        self._open = {"builtins", *objects}
        for name, module in [*sys.modules.items(), *objects.items()]:
            if name.partition(".")[0] in (*JUDGES, *objects):
                self._add(name, module)
                for inner in [one for one in vars(module).values() if isinstance(one, type)]:
                    if inner.__module__.partition(".")[0] in JUDGES[1:]:
                        self._add(f"{name}.{inner.__name__}", inner)

    def close(self, function: Any) -> None:
        """Let the code of one more function count: that of a test."""
        code = getattr(function, "__code__", None)
        if code is not None:
            self._codes.setdefault(function, code)

    def broken(self) -> list[str]:
        """The names that stand for something else by now, but for what an installed package has put there."""
        changed = set()
        for place, whole, before in self._parts:
            now = _callables(whole)
            for name in before if place in self._open else {**now, **before}:
                part = now.get(name)
                if part is not before.get(name) and not _is_installed(part):
                    changed.add(f"{place}.{name}")
        codes = [function for function, code in self._codes.items() if function.__code__ is not code]
        return sorted({*changed, *(function.__qualname__ for function in codes)} - THEIR_OWN)

    def _add(self, place: str, whole: Any) -> None:
        parts = _callables(whole)
        self._parts.append((place, whole, parts))
        for part in parts.values():
            self.close(_function(part))


def file_of(function: Any) -> str:
    """The file that a function is written in; the name of its type where it is none."""
    code = getattr(_function(inspect.unwrap(function)), "__code__", None)
    return str(code.co_filename) if code is not None else type(function).__name__


def _callables(whole: Any) -> dict[str, Any]:
    kinds = (property, classmethod, staticmethod)
    return {name: part for name, part in [*vars(whole).items()] if callable(part) or isinstance(part, kinds)}


def _function(part: Any) -> Any:
    return getattr(part, "fget", None) or getattr(part, "__func__", part)


def _is_installed(part: Any) -> bool:
    """Whether a function is one of an installed package other than pytest: a plug-in."""
    code = getattr(_function(part), "__code__", None)
    return code is not None and INSTALLED.search(code.co_filename) is not None
