"""The list of the user's variables with a short preview of each, requested outside cells."""

from __future__ import annotations

import ctypes
import datetime
import decimal
import fractions
import pathlib
import threading
import time
import types
import uuid
from itertools import islice
from typing import Any

from .cells import BRACKETS
from .home import Home
from .known import CONTAINERS, MRO, NAME, Kinds, StoredValue, printable, type_name
from .namespace import LONGEST_NAME, is_theirs

# Variables that are listed, the time for looking at them (less while code runs), and the time for reprs
# of the user's classes.
MOST, BUDGET_S, BUSY_BUDGET_S, REPRS_S = 5_000, 0.25, 0.1, 0.1
HEAD, ITEMS = 100, 12
# Their reprs are Python's own, and short.
PLAIN = (
    bool, float, complex, type(None), type(...), range, slice, datetime.date, datetime.datetime,
    datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction, pathlib.PosixPath, uuid.UUID,
)  # fmt: skip
SLOW = "<its repr takes too long>"


class VariableListing:
    """Lists names and variables. Never waits for the user's code, and runs none of it while a cell runs."""

    def __init__(self, home: Home, kinds: Kinds) -> None:
        self.home = home
        self.kinds = kinds
        self.slow: set[int] = set()

    def theirs(self) -> list[tuple[str, Any]]:
        """Return the first of the user's names in alphabetical order, with their values."""
        names, hidden = dict(self.home.shell.user_ns), self.home.shell.user_ns_hidden
        return sorted(
            ((name, value) for name, value in names.items() if is_theirs(name, value, hidden)),
            key=lambda item: item[0],
        )[:MOST]

    def names(self) -> dict[str, str]:
        """Return each name with the name of its type."""
        return {printable(name, LONGEST_NAME): type_name(value) for name, value in self.theirs()}

    def variables(self) -> list[tuple[str, str, Any, Any, str]]:
        """Return name, type, shape, size and a short preview of each variable."""
        self.kinds.renew()
        deadline = time.perf_counter() + (BUSY_BUDGET_S if self.home.in_cell else BUDGET_S)
        rows: list[Any] = []
        asked: list[tuple[int, Any]] = []
        for name, value in self.theirs():
            row: list[Any] = [printable(name, LONGEST_NAME), type_name(value), (), None, ""]
            if type(value) is StoredValue:
                row[3], row[4] = value.piece["size"], "in the checkpoint, loaded at its first use"
            elif time.perf_counter() < deadline:
                row[2], row[3] = self.kinds.shape(value), self.kinds.size(value)
                head = self.head(value)
                if head is None:
                    asked.append((len(rows), value))
                row[4] = head or ""
            rows.append(row)
        if not self.home.in_cell:
            for number, text in self.reprs(asked).items():
                rows[number][4] = text
        return [tuple(row) for row in rows]

    def head(self, value: Any, depth: int = 2) -> Any:
        """Return a short preview without running code of the class; None if only its repr could show it."""
        try:
            text = self._head(value, depth)
        except Exception:  # noqa: BLE001 - it is being changed by a cell, or in an unexpected state
            return ""
        return None if text is None else printable(" ".join(text.split()), HEAD)

    def _head(self, value: Any, depth: int) -> Any:  # noqa: PLR0911 - one line for each kind
        kind = type(value)
        if kind is str or kind is bytes or kind is bytearray:
            return repr(value[:HEAD])
        if kind is int:
            return repr(value) if value.bit_length() <= 4 * HEAD else f"<int of {value.bit_length()} bits>"
        if any(kind is plain for plain in PLAIN):
            return repr(value)
        if any(kind is container for container in CONTAINERS):
            return self._items(value, depth)
        if kind is types.FunctionType:
            code = value.__code__
            return (
                f"{code.co_name}({', '.join(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])})"
            )
        if issubclass(kind, type):
            return f"class of {NAME(MRO(value)[1])}" if MRO(value)[1] is not object else "class"
        look = LIBRARIES.get(self.kinds.library(kind))
        return look(value) if look else None

    def _items(self, value: Any, depth: int) -> str:
        kind: Any = type(value)
        brackets = BRACKETS.get(kind, "[]" if not isinstance(value, dict) else "{}")
        if not depth:
            return f"{brackets[0]}…{brackets[1]}"
        is_dict = isinstance(value, dict)
        pairs = islice(value.items(), ITEMS) if is_dict else ((None, item) for item in islice(value, ITEMS))
        shown = []
        for key, item in pairs:
            text = self._item(item, depth)
            shown.append(f"{self._item(key, depth)}: {text}" if is_dict else text)
        more = ", …" if len(value) > len(shown) else ""
        return f"{brackets[0]}{', '.join(shown)}{more}{brackets[1]}"

    def _item(self, item: Any, depth: int) -> str:
        text = self.head(item, depth - 1)
        return f"<{type_name(item)}>" if text is None else text[: HEAD // 2]

    def reprs(self, asked: list[tuple[int, Any]]) -> dict[int, str]:
        """Return the objects' own reprs within a time limit; a class that was slow is not called again."""
        found: dict[int, str] = {}
        waiting = [True]
        current: list[Any] = [None, None]

        def ask() -> None:
            for number, value in asked:
                current[:] = number, id(type(value))
                found[number] = SLOW if current[1] in self.slow else repr_of(value)
                if not waiting:
                    return

        if not asked:
            return found
        thread = threading.Thread(target=ask, name="terp-reprs", daemon=True)
        thread.start()
        thread.join(REPRS_S)
        waiting.clear()
        if thread.is_alive():
            number, kind = current
            self.slow.add(kind)
            stop(thread)
            return {**found, number: SLOW}
        return found


def repr_of(value: Any) -> str:
    """Return an object's repr, short, on one line; a repr that raises is named instead."""
    try:
        return printable(" ".join(str.__getitem__(repr(value), slice(HEAD * 4)).split()), HEAD)
    except BaseException as error:  # noqa: BLE001 - also SystemExit, and what stops this thread
        return f"<its repr raised {type_name(error)}>"


def stop(thread: threading.Thread) -> None:
    """Let code that runs in a thread end with an exception, once it is at its next instruction."""
    ident = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(SystemExit))


def _array(array: Any) -> str:
    if array.dtype.hasobject or not array.ndim:
        return f"of {array.dtype}"
    some = array[(0,) * (array.ndim - 1)][:6].tolist()
    items = [f"{item:.6g}" if type(item) is float else str(item) for item in some]
    return f"{array.dtype} [{', '.join(items)}{', …' if array.size > len(items) else ''}]"


def _series(series: Any) -> str:
    values = series._values
    return _array(values) if NAME(type(values)) == "ndarray" else f"of {values.dtype}"


def _table(table: Any) -> str:
    labels = [label if type(label) is str else type_name(label) for label in islice(table.columns, ITEMS)]
    return f"columns: {', '.join(labels)}{', …' if len(table.columns) > len(labels) else ''}"


LIBRARIES = {"ndarray": _array, "Series": _series, "DataFrame": _table}
