"""Marks: fingerprints that show later, without `==`, that a value was replaced or changed.

A mark is the identity of the object and a sample of its content. It misses a single item in the middle of a
long list or a large array (a deep mark sees it up to a megabyte), the inside of nested containers, and state
outside of attributes.
"""

from __future__ import annotations

import collections
import sys
import types
import weakref
import zlib
from collections.abc import Callable
from itertools import islice
from typing import Any, Tuple  # noqa: UP035 - Python 3.8

from .known import COLUMNS, Kinds, attributes, columns_of

WEAK = type.__dict__["__weakrefoffset__"].__get__

# Items, attributes and columns that a mark looks at, and values of an array or a column.
FEW, SOME = 16, 64
# A deep mark, with `MANY`, looks at so many items, or bytes, of one value.
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
    """Makes marks; `kinds` knows which values can be looked into."""

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
        """The mark of a value, for which at most so many of its items are looked at; 0 for none."""
        kind = type(value)
        if kind is float or kind is bool or value is None or (kind is int and -LONG < value < LONG):
            # The same number again is no news, whichever object it is. nan differs from itself.
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
            return (shape, id(value.dtype), _bytes_of(value, most))
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
    """Equal short texts are the same; of a long one the ends are looked at."""
    if len(value) <= SHORT:
        return (id(type(value)), value)
    return (id(value), (len(value), value[:FEW], value[-FEW:]))


def _sequence(value: Any, most: int) -> Any:
    if len(value) <= most:
        return (len(value), hash(tuple(map(id, value))))
    ends = [*value[: most // 4], *value[:: max(1, len(value) // most)], *value[-most // 4 :]]
    return (len(value), hash(tuple(map(id, ends))))


def _mapping(value: Any, most: int) -> Any:
    # What holds an object's attributes can be of a class that is built on dict.
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
    return ([id(axis) for axis in manager.axes], [_column(column, most) for column in columns])


def _column(column: Any, most: int) -> Any:
    numpy = sys.modules["numpy"]
    if type(column) is numpy.ndarray:
        return _bytes_of(column, most)
    # Columns of pandas' own types hold arrays, which are replaced or changed in place.
    for name in ("_ndarray", "_codes", "_data"):
        held = getattr(column, name, None)
        if type(held) is numpy.ndarray:
            return _bytes_of(held, most)
    return id(getattr(column, "_pa_array", column))


def _bytes_of(array: Any, most: int) -> Any:
    """A checksum of an array: of all of it when that is wanted and cheap, else of a grid of values."""
    numpy = sys.modules["numpy"]
    base = array
    while base.base is not None:
        base = base.base
        if type(base) is not numpy.ndarray:
            # What lies behind it may be a file on a slow disk.
            return None
    if most >= MANY and array.nbytes <= MEGABYTE:
        # Numbers that lie side by side need not be copied for it.
        in_place = array.dtype.kind in "biufc" and array.flags.c_contiguous
        return zlib.crc32(array if in_place else array.tobytes())
    if not array.ndim:
        return array.tobytes()
    per_axis = max(2, round(SOME ** (1 / array.ndim)))
    grid = tuple(slice(None, None, max(1, length // per_axis)) for length in array.shape)
    return zlib.crc32(array[grid].tobytes())
