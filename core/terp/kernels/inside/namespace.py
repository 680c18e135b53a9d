"""Changes of a cell in the user's namespace: new, changed and removed names.

Values are compared by marks: fingerprints that show later, without `==`, that a value was replaced or
changed. A mark is the identity of the object and a sample of its content. It misses a single item in the
middle of a long list or a large array (a deep mark sees it up to a megabyte), the inside of nested
containers, and state outside of attributes.

A mark takes a few microseconds. With many names only new ones and those that the cell mentions are compared.
"""

from __future__ import annotations

import collections
import re
import sys
import time
import types
import weakref
import zlib
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import islice
from typing import Any, Tuple  # noqa: UP035 - Python 3.8

from .home import Home
from .known import COLUMNS, Kinds, StoredValue, attributes, columns_of, is_module, printable, type_name

WEAK = type.__dict__["__weakrefoffset__"].__get__

# Items, attributes and columns that a mark samples, and values of an array or a column.
FEW, SOME = 16, 64
# Items that a deep mark samples, and bytes up to which it reads all of a value.
MANY, MEGABYTE = 5_000, 1 << 20
SHORT = 64
LONG = 1 << 63
UNCHANGING = (
    tuple, frozenset, range, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType,
)  # fmt: skip

# The identity of an object, or the type of a number or a short text, and its content.
Mark = Tuple[Any, Any]  # noqa: UP006


def differ(one: Mark, other: Mark) -> bool:
    """Return True if two marks are of different objects or of a changed one. Runs no `==` of the values."""
    same = one[0] is other[0] or (type(one[0]) is int and type(other[0]) is int and one[0] == other[0])
    return not same or (one[1] is not None and other[1] is not None and one[1] != other[1])


class Marks:
    """Makes marks; `kinds` reads the shape of values."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._contents: dict[int, Callable[[Any, int], Any]] = {
            id(list): _sequence,
            id(dict): _mapping,
            id(collections.defaultdict): _mapping,
            id(collections.OrderedDict): _mapping,
            id(collections.Counter): _mapping,
            id(set): _unordered,
            id(collections.deque): _unordered,
            id(bytearray): _bytearray,
            **{id(kind): _nothing for kind in UNCHANGING},
        }

    def of(self, value: Any, most: int = FEW) -> Mark:
        """Return the mark of a value, from at most `most` of its items."""
        kind = type(value)
        if kind is float or kind is bool or value is None or (kind is int and -LONG < value < LONG):
            # An equal number is no change, even if it is another object. nan differs from itself.
            return (id(kind), value if value == value else "nan")  # noqa: PLR0124
        if kind is str or kind is bytes:
            return _text(value)
        identity = weakref.ref(value) if WEAK(kind) else id(value)
        try:
            return (identity, self._content(value, kind, most) if most else None)
        except Exception:  # noqa: BLE001 - changed meanwhile by a thread, or in an unexpected state
            return (identity, None)

    def _content(self, value: Any, kind: Any, most: int) -> Any:
        content = self._contents.get(id(kind))
        if content is not None:
            return content(value, most)
        shape = self._kinds.shape(value)
        numpy, pandas, torch = (sys.modules.get(name) for name in ("numpy", "pandas", "torch"))
        if numpy and kind is getattr(numpy, "ndarray", None):
            return (shape, id(value.dtype), array_mark(value, most))
        if pandas and any(kind is getattr(pandas, name, None) for name in ("DataFrame", "Series")):
            return (shape, _columns(value, most))
        if torch and kind is getattr(torch, "Tensor", None):
            # torch counts the changes itself.
            return (shape, value._version)
        found = attributes(value)
        return (shape, None if found is None else _mapping(found, most))


def _nothing(_: Any, __: int) -> Any:
    return None


def _bytearray(value: Any, _: int) -> Any:
    return (len(value), bytes(value[:SOME]), bytes(value[-SOME:]))


def _text(value: Any) -> Mark:
    """Return the mark of text: all of a short one, the ends of a long one."""
    if len(value) <= SHORT:
        return (id(type(value)), value)
    return (id(value), (len(value), value[:FEW], value[-FEW:]))


def _sequence(value: Any, most: int) -> Any:
    if len(value) <= most:
        return (len(value), hash(tuple(map(id, value))))
    ends = [*value[: most // 4], *value[:: max(1, len(value) // most)], *value[-most // 4 :]]
    return (len(value), hash(tuple(map(id, ends))))


def _mapping(value: Any, most: int) -> Any:
    # The dict of an object's attributes can be of a subclass of dict.
    length, items = dict.__len__(value), [*islice(dict.items(value), most)]
    if length > most:
        items += islice(reversed(dict.items(value)), FEW)
    return (length, hash(tuple(id(part) for item in items for part in item)))


def _unordered(value: Any, most: int) -> Any:
    return (len(value), hash(tuple(map(id, islice(value, most)))))


def _columns(table: Any, most: int) -> Any:
    columns = columns_of(table)
    if len(columns) > COLUMNS or most < MANY:
        columns = columns[:: max(1, len(columns) // FEW)][: FEW + 1]
    size = sum(column.nbytes for column in columns) if most >= MANY else 0
    most = FEW if size > MEGABYTE else most
    manager = object.__getattribute__(table, "_mgr")
    return ([id(axis) for axis in manager.axes], [column_mark(column, most) for column in columns])


def column_mark(column: Any, most: int) -> Any:
    """Return a checksum of a column of pandas; of one of Arrow, which cannot change, the identity."""
    numpy = sys.modules["numpy"]
    if type(column) is numpy.ndarray:
        return array_mark(column, most)
    # Columns of pandas' own types hold arrays, which are replaced or changed in place.
    for name in ("_ndarray", "_codes", "_data"):
        held = getattr(column, name, None)
        if type(held) is numpy.ndarray:
            return array_mark(held, most), str(getattr(column, "_dtype", ""))
    return id(getattr(column, "_pa_array", column))


def array_mark(array: Any, most: int) -> Any:
    """Return a checksum of an array: of all values if that is wanted and cheap, else of a grid of values."""
    if not is_in_memory(array):
        return None
    # Zeros of several types have the same bytes.
    seed = hash(array.dtype) & 0xFFFFFFFF
    if most >= MANY and array.nbytes <= MEGABYTE:
        # Numbers that lie side by side need not be copied for it.
        in_place = array.dtype.kind in "biufc" and array.flags.c_contiguous
        return zlib.crc32(array if in_place else array.tobytes(), seed)
    per_axis = max(2, round(SOME ** (1 / max(1, array.ndim))))
    grid = tuple(slice(None, None, max(1, length // per_axis)) for length in array.shape)
    return zlib.crc32(array[grid].tobytes(), seed)


def is_in_memory(array: Any) -> bool:
    """Return False for a value that is no array, and for one whose memory may be a file on a slow disk."""
    while type(array) is sys.modules["numpy"].ndarray:
        if array.base is None:
            return True
        array = array.base
    return False


# Names that are compared, or reported, after each cell, and the time limit before and after it.
MOST, MOST_REPORTED, BUDGET_S = 500, 20, 0.0008
# CPU time for the fingerprints of data, before a cell and after it.
DATA_BUDGET_S = 0.005
# Tables whose copies are kept.
MOST_COPIES = 4
MOST_WITH_PRIVATE = 20_000
LONGEST_CODE, LONGEST_NAME = 20_000, 60
WORD = re.compile(r"[^\W\d]\w*")


def is_theirs(name: Any, value: Any, hidden: Any) -> bool:
    """Return True if a name is the user's: no module, not private, not of IPython or terp."""
    if type(name) is not str or name[:1] == "_" or is_module(value):
        return False
    if type(value) is StoredValue and value.kind == "module":
        return False
    return not (name in hidden and hidden[name] is value)


class Namespace:
    """Compares the namespace before and after a cell.

    The marks after a cell are the marks before the next one, so changes by a thread in between belong to the
    next one.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.kinds = Kinds()
        self.marks = Marks(self.kinds)
        self.before: Any = None
        self.is_part = False
        self.deep: dict[str, Mark] = {}
        self.length = self.cells = 0
        self.found: dict[str, Any] = {}
        self.changed: set[str] = set()
        # Fingerprints of values, by name.
        self.prints: dict[str, Any] = {}
        # Copies of small tables: as they are, and as they were before the last run that changed them.
        self.copies: dict[str, Any] = {}
        self.former: dict[str, Any] = {}
        self.watches: Any = None
        self.broken: list[Any] = []

    @property
    def names(self) -> Any:
        """The namespace itself."""
        return self.home.shell.user_ns

    def has_many(self) -> bool:
        """Return True if there are too many names to compare each. IPython adds two with every cell."""
        length = len(self.names)
        return length - 2 * self.cells > MOST or length > MOST_WITH_PRIVATE

    def begin(self, code: Any) -> None:
        """Prepare for a cell: make deep marks of the names that its code mentions."""
        self.cells += 1
        self.found, self.broken = {}, []
        self.kinds.renew()
        names, hidden = self.names, self.home.shell.user_ns_hidden
        self.length = len(names)
        words = set(WORD.findall(code[:LONGEST_CODE])) if type(code) is str else set()
        mentioned = {word: names[word] for word in words if word in names}
        if self.before is None:
            # Values may have changed since the last cell.
            self.prints, self.copies = {}, {}
        if self.has_many():
            self.before, self.is_part = self.look(dict(islice(mentioned.items(), MOST))), True
        elif self.before is None:
            self.before = self.look(dict(names))
        self.deep = {}
        deadline = time.perf_counter() + BUDGET_S
        for name, value in mentioned.items():
            if time.perf_counter() > deadline:
                break
            if is_theirs(name, value, hidden):
                self.deep[name] = self.marks.of(value, MANY)
        if self.before:
            self.remember(mentioned)

    def remember(self, mentioned: Iterable[str]) -> None:
        """Make missing fingerprints, of mentioned names first, and copies of mentioned tables."""
        library = data_facts()
        deadline = time.thread_time() + DATA_BUDGET_S
        for name in dict.fromkeys((*mentioned, *self.before)):
            copied = name in self.copies or name not in mentioned or len(self.copies) >= MOST_COPIES
            if (copied and name in self.prints) or name not in self.before or name not in self.names:
                continue
            if time.thread_time() > deadline:
                break
            if name not in self.prints:
                self.prints[name] = library.fingerprint(self.names[name], self.kinds, deadline)
            if not copied and (copy := library.copy_of(self.names[name])) is not None:
                self.copies[name] = copy

    def look(self, names: dict[Any, Any]) -> dict[str, Mark]:
        """Return the marks of the user's names among `names`; only of identities after the time limit."""
        hidden, mark = self.home.shell.user_ns_hidden, self.marks.of
        deadline = time.perf_counter() + BUDGET_S
        marks: dict[str, Mark] = {}
        for name, value in names.items():
            if is_theirs(name, value, hidden):
                marks[name] = mark(value, FEW if time.perf_counter() < deadline else 0)
        return marks

    def evaluate(self, conditions: Any) -> None:
        """Evaluate watched conditions after a cell; note those that are broken."""
        if conditions:
            self.watches = self.watches or import_module(".watching", __package__).Watches(self.home.shell)
            self.broken = self.watches.broken(conditions)

    def compare(self) -> None:
        """Compare after a cell: set `found` to its `changes`, and to how many `more` are left out."""
        names, before = self.names, self.before
        self.kinds.renew()
        is_part = self.is_part or self.has_many()
        if is_part:
            now = self.look({name: names[name] for name in before if name in names})
            new, more = self.newest(before, now)
        else:
            now = self.look(dict(names))
            new, more = [name for name in now if name not in before], 0
        changed = [name for name in now if name in before and self.has_changed(name, before[name], now[name])]
        removed = [name for name in before if name not in now]
        self.before, self.is_part, self.deep = None if is_part else now, False, {}
        found = [("new", name) for name in new] + [("changed", name) for name in changed]
        found += [("removed", name) for name in removed]
        self.changed = {*changed, *removed}
        deadline = time.thread_time() + DATA_BUDGET_S
        # Only the tables that the last runs have changed are kept as they were.
        former = [item for item in self.former.items() if item[0] not in self.changed]
        self.former = dict(former[-MOST_COPIES:])
        data = {name: self.facts(action, name, deadline) for action, name in found}
        rows = [(*self.row(action, name), *data[name]) for action, name in found[:MOST_REPORTED]]
        self.found = {"changes": rows, "more": more + len(found) - len(rows), "broken": self.broken}

    def has_changed(self, name: str, before: Mark, now: Mark) -> bool:
        """Return True if a name has another object, or one with another content."""
        if any(self.names[name] is stream for stream in self.home.streams):
            # Printing changes it, and output is shown anyway.
            return False
        if differ(before, now):
            return True
        deep = self.deep.get(name)
        return deep is not None and differ(deep, self.marks.of(self.names[name], MANY))

    def newest(self, before: dict[str, Mark], now: dict[str, Mark]) -> tuple[list[str], int]:
        """Return the new names among many, and the number of further ones that were added or removed."""
        count = len(self.names) - self.length + len(before) - len(now)
        latest = list(islice(reversed(self.names.items()), max(0, min(count, MOST))))
        hidden = self.home.shell.user_ns_hidden
        new = [name for name, value in latest if name not in before and is_theirs(name, value, hidden)]
        return new[::-1], max(0, abs(count) - MOST) if count > 0 else -count

    def row(self, action: str, name: str) -> tuple[Any, ...]:
        """Return the report of a name: action, name, type, shape and size."""
        if action == "removed":
            return (action, printable(name, LONGEST_NAME), "", (), None)
        value = self.names[name]
        shape, size = self.kinds.shape(value), self.kinds.size(value)
        return (action, printable(name, LONGEST_NAME), type_name(value), shape, size)

    def facts(self, action: str, name: str, deadline: float) -> Any:
        """Return what has happened to the data of a name: before, after, and further facts."""
        before, copy = self.prints.pop(name, None), self.copies.pop(name, None)
        if copy is not None:
            self.former[name] = copy
        is_of_interest = before is not None or "sklearn.base" in sys.modules
        if action == "removed" or not is_of_interest or time.thread_time() > deadline:
            return "", "", ()
        after = self.prints[name] = data_facts().fingerprint(self.names[name], self.kinds, deadline)
        return data_facts().facts_between(before, after)

    def difference(self, name: str) -> Any:
        """Return lines on how a table differs from before the last run that changed it; [] if unknown."""
        manager, copy = data_facts().manager_of(self.names.get(name)), self.former.get(name)
        known = copy is not None and manager is not None
        return import_module(".table_difference", __package__).difference(copy, manager) if known else []


def data_facts() -> Any:
    """Import and return the module of fingerprints."""
    # The first run of a kernel has nothing to compare.
    return import_module(".fingerprints", __package__)
