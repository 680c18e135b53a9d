"""Type, shape and size of a value, read without running code of its class.

A class can run its own code at any access to its objects: `__len__`, `__class__`, a property `shape` that
computes for an hour. So only attributes that Python and a few libraries define are read, and always through
the class that defines them, never through the object.
"""

from __future__ import annotations

import collections
import sys
import types
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple, Tuple  # noqa: UP035 - Python 3.8

# Attributes of a class itself, bypassing its metaclass.
NAME = type.__dict__["__name__"].__get__
MRO = type.__dict__["__mro__"].__get__
NAMESPACE = type.__dict__["__dict__"].__get__

SCALARS = (int, float, bool, complex, type(None))
TEXTS = (str, bytes, bytearray)
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque, collections.OrderedDict)
# Items of a container whose sizes are read.
SAMPLE = 50
# Columns of a table whose sizes are added up; a wider one is not measured.
COLUMNS = 200

# Libraries whose objects can be read without code of a subclass; see `_manager`.
BASES = ("numpy", "pandas")

Shape = Tuple[int, ...]  # noqa: UP006


class Kind(NamedTuple):
    """Functions that read shape and size of one class; a size of None is unknown."""

    shape: Callable[[Any], Shape]
    size: Callable[[Any], Any]


class StoredValue:
    """Stands in the namespace for a value of a checkpoint, until the first cell that mentions it.

    `piece` is the stored object that holds it, as its part number `part`; `load` returns the value.
    """

    __slots__ = ("__weakref__", "kind", "load", "part", "piece")

    def __init__(self, piece: Any, part: int, load: Callable[[Any], Any]) -> None:
        self.piece, self.part, self.load = piece, part, load
        self.kind = printable(piece["kinds"][part], 60)

    def __repr__(self) -> str:
        """Name the type and the size."""
        return f"<{self.kind} in the checkpoint, {self.piece['size']:,} bytes: loaded at its first use>"

    def __getattr__(self, name: str) -> Any:
        """Load the value for code that reached this object without mentioning its name."""
        if name[:1] == "_":
            raise AttributeError(name)
        return getattr(self.load(self), name)


def type_name(value: Any) -> str:
    """Return the name of a value's class, short and printable; "class" for a class itself."""
    kind = type(value)
    if kind is StoredValue:
        return str(value.kind)
    return "class" if issubclass(kind, type) else printable(NAME(kind), 60)


def printable(text: Any, limit: int) -> str:
    """Return untrusted text as one short line of printable characters."""
    text = str.__getitem__(text, slice(limit)) if isinstance(text, str) else "?"
    return text if text.isprintable() else ascii(text)[1:-1]


def is_module(value: Any) -> bool:
    """Return True if a value is a module. `isinstance` would read the object's `__class__`.

    Classes are compared only by `is` and `issubclass`: `in` would call a metaclass's `__eq__`.
    """
    return issubclass(type(value), types.ModuleType)


def attributes(value: Any) -> Any:
    """Return the dict with an object's attributes; None without one, or if its class computes them."""
    for base in MRO(type(value)):
        found = NAMESPACE(base).get("__dict__")
        if found is not None:
            return found.__get__(value) if type(found) is types.GetSetDescriptorType else None
    return None


class Kinds:
    """The classes that can be read. `renew` adds classes of libraries that were imported since."""

    def __init__(self) -> None:
        # By id: a metaclass can have its own `__hash__`. These classes live as long as the kernel.
        self._kinds = {id(kind): Kind(_nothing, _own_size(kind)) for kind in SCALARS}
        self._kinds.update({id(kind): Kind(_length(kind), _own_size(kind)) for kind in TEXTS})
        self._kinds.update({id(kind): Kind(_length(kind), self._sampled_size(kind)) for kind in CONTAINERS})
        self._kinds[id(range)] = Kind(_length(range), _own_size(range))
        self._missing = dict(LIBRARIES)
        self._libraries: dict[int, str] = {}
        self._exact: set[int] = set()

    def renew(self) -> None:
        """Look for libraries that can be read and were not there before."""
        for name, classes in list(self._missing.items()):
            module = sys.modules.get(name)
            if type(module) is not types.ModuleType:
                continue
            found = {key: vars(module).get(key) for key in classes}
            # A module that is being imported has only some of its names.
            if all(type(kind) is not type(None) for kind in found.values()):
                del self._missing[name]
                for key, kind in found.items():
                    self._kinds[id(kind)] = classes[key]
                    self._libraries[id(kind)] = key
                    if name not in BASES:
                        self._exact.add(id(kind))

    def of(self, value: Any) -> Any:
        """Return the readers for a value's class or its known base; None if there are none."""
        own = type(value)
        known = self._kinds.get(id(own))
        if known is not None:
            return known
        for base in MRO(own):
            if id(base) in self._kinds and id(base) not in self._exact:
                return self._kinds[id(base)]
        return None

    def library(self, kind: Any) -> str:
        """Return the name of a library's class that can be read; "" for any other, also for a subclass."""
        return self._libraries.get(id(kind), "")

    def shape(self, value: Any) -> Shape:
        """Return the shape or length of a value; () if it has none or it is not known."""
        kind = self.of(value)
        try:
            return kind.shape(value) if kind else ()
        except Exception:  # noqa: BLE001 - a library in a state, or of an unexpected version
            return ()

    def size(self, value: Any) -> Any:
        """Return the approximate size of a value in bytes; None if unknown or expensive."""
        kind = self.of(value)
        try:
            return kind.size(value) if kind else None
        except Exception:  # noqa: BLE001
            return None

    def _sampled_size(self, container: Any) -> Callable[[Any], Any]:
        """Return a function that estimates the size of a container with its content, from some items."""
        own = _own_size(container)

        def size(value: Any) -> Any:
            some = list(islice(container.__iter__(value), SAMPLE))
            if issubclass(container, dict):
                some += islice(dict.values(value), SAMPLE)
            sizes = [self._item_size(item) for item in some]
            if None in sizes:
                return None
            per_item = sum(sizes) / max(1, min(SAMPLE, container.__len__(value)))
            return own(value) + int(per_item * container.__len__(value))

        return size

    def _item_size(self, item: Any) -> Any:
        """Return the size of an item; a container within a container is counted without its content."""
        kind = self._kinds.get(id(type(item)))
        if kind is None:
            return None
        own = type(item)
        is_container = any(own is container for container in CONTAINERS)
        return _own_size(own)(item) if is_container else kind.size(item)


def _nothing(_: Any) -> Shape:
    return ()


def _length(kind: Any) -> Callable[[Any], Shape]:
    def length(value: Any) -> Shape:
        return (kind.__len__(value),)

    return length


def _own_size(kind: Any) -> Callable[[Any], int]:
    def size(value: Any) -> int:
        return int(kind.__sizeof__(value))

    return size


def _manager(table: Any) -> Any:
    """Return pandas' block manager of a DataFrame or Series, bypassing a subclass's attributes."""
    return object.__getattribute__(table, "_mgr")


def columns_of(table: Any) -> list[Any]:
    """Return the arrays of the columns of a DataFrame or Series, without copying them."""
    manager = _manager(table)
    if len(manager.shape) == 1:
        return [manager.blocks[0].values]
    return [manager.iget_values(number) for number in range(manager.shape[0])]


def _pandas_shape(table: Any) -> Shape:
    return tuple(int(length) for length in reversed(_manager(table).shape))


def _pandas_size(table: Any) -> Any:
    manager = _manager(table)
    if len(manager.blocks) > COLUMNS:
        return None
    return int(sum(block.values.nbytes for block in manager.blocks) + manager.axes[-1].nbytes)


def _array_shape(array: Any) -> Shape:
    return tuple(sys.modules["numpy"].ndarray.shape.__get__(array))


def _array_size(array: Any) -> Any:
    return int(sys.modules["numpy"].ndarray.nbytes.__get__(array))


def _shape(value: Any) -> Shape:
    return tuple(int(length) for length in value.shape)


LIBRARIES: dict[str, dict[str, Kind]] = {
    "numpy": {"ndarray": Kind(_array_shape, _array_size)},
    "pandas": {
        "DataFrame": Kind(_pandas_shape, _pandas_size),
        "Series": Kind(_pandas_shape, _pandas_size),
    },
    "polars": {
        "DataFrame": Kind(_shape, lambda table: int(table.estimated_size())),
        "Series": Kind(_shape, lambda series: int(series.estimated_size())),
    },
    "pyarrow": {"Table": Kind(_shape, lambda table: int(table.nbytes))},
    "torch": {"Tensor": Kind(_shape, lambda tensor: int(tensor.element_size() * tensor.nelement()))},
}
