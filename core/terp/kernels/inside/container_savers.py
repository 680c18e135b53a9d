"""Savers for containers and iterators."""

from __future__ import annotations

import collections
import gc
import types
from collections.abc import Callable, Iterable
from operator import is_
from typing import Any

# Results of a restore: the state was the same, it was changed back, it could not be restored.
SAME, CHANGED, CANNOT = 0, 1, 2
# A container with more items is not copied.
MOST_ITEMS = 100_000
TOO_LARGE = "too large"
WORD_BYTES = 8

Saver = Callable[[Any, Any], Iterable[Any]]
"""Given an object and a scan, calls the scan's `keep` or `opaque`; returns the referenced objects."""


def fits(value: Any, length: int, scan: Any) -> bool:
    """Return True if a container is small enough to be copied."""
    if length > MOST_ITEMS:
        scan.opaque(value, TOO_LARGE)
    return length <= MOST_ITEMS


def of_list(value: Any, scan: Any) -> Iterable[Any]:
    """A list: its items."""
    if not fits(value, list.__len__(value), scan):
        return ()
    items = list(list.__iter__(value))
    scan.keep(list_back, value, items, WORD_BYTES * len(items))
    return items


def list_back(value: Any, items: Any) -> int:
    """Restore the items."""
    if alike(list.__iter__(value), items, list.__len__(value)):
        return SAME
    list.__setitem__(value, slice(None), items)
    return CHANGED


def of_dict(value: Any, scan: Any) -> Iterable[Any]:
    """A dict: its keys and values."""
    if not fits(value, dict.__len__(value), scan):
        return ()
    items = list(type(value).items(value)) if type(value) is collections.OrderedDict else [*dict.items(value)]
    scan.keep(dict_back, value, items, 4 * WORD_BYTES * len(items))
    return [part for item in items for part in item]


def dict_back(value: Any, items: Any) -> int:
    """Put keys and values back, in their order."""
    ordered = issubclass(type(value), collections.OrderedDict)
    kind = collections.OrderedDict if ordered else dict
    now = [part for item in kind.items(value) for part in item]
    if alike(now, [part for item in items for part in item], len(now)):
        return SAME
    kind.clear(value)
    for key, item in items:
        kind.__setitem__(value, key, item)
    return CHANGED


def of_defaultdict(value: Any, scan: Any) -> Iterable[Any]:
    """A dict that makes what it lacks."""
    scan.keep(factory_back, value, value.default_factory, WORD_BYTES)
    return [value.default_factory, *of_dict(value, scan)]


def factory_back(value: Any, factory: Any) -> int:
    """Put back what makes a missing value."""
    if value.default_factory is factory:
        return SAME
    value.default_factory = factory
    return CHANGED


def of_set(value: Any, scan: Any) -> Iterable[Any]:
    """A set: its items."""
    if not fits(value, set.__len__(value), scan):
        return ()
    items = list(set.__iter__(value))
    scan.keep(set_back, value, items, 4 * WORD_BYTES * len(items))
    return items


def set_back(value: Any, items: Any) -> int:
    """Restore the items."""
    if {id(item) for item in set.__iter__(value)} == {id(item) for item in items}:
        return SAME
    set.clear(value)
    set.update(value, items)
    return CHANGED


def of_deque(value: Any, scan: Any) -> Iterable[Any]:
    """A deque: its items."""
    kind = collections.deque
    if not fits(value, kind.__len__(value), scan):
        return ()
    items = list(kind.__iter__(value))
    scan.keep(deque_back, value, items, WORD_BYTES * len(items))
    return items


def deque_back(value: Any, items: Any) -> int:
    """Restore the items."""
    kind = collections.deque
    if alike(kind.__iter__(value), items, kind.__len__(value)):
        return SAME
    kind.clear(value)
    kind.extend(value, items)
    return CHANGED


def of_bytearray(value: Any, scan: Any) -> Iterable[Any]:
    """Bytes that can be changed."""
    if fits(value, len(value) // 100, scan):
        scan.keep(bytearray_back, value, bytes(value), len(value))
    return ()


def bytearray_back(value: Any, content: Any) -> int:
    """Put the bytes back."""
    if bytes(value) == content:
        return SAME
    value[:] = content
    return CHANGED


def alike(now: Iterable[Any], before: Any, length: int) -> bool:
    """Return True if these are the same objects in the same order; `length` is the current count."""
    return length == len(before) and all(map(is_, now, before))


def of_items(value: Any, scan: Any) -> Iterable[Any]:
    """A tuple or a frozenset: it stays, and what it holds may change."""
    base = tuple if issubclass(type(value), tuple) else frozenset
    if not fits(value, base.__len__(value), scan):
        return ()
    return [*base.__iter__(value)]


def of_slice(value: Any, _: Any) -> Iterable[Any]:
    """A slice."""
    return (value.start, value.stop, value.step)


def of_method(value: Any, _: Any) -> Iterable[Any]:
    """A method: its object and its function."""
    return (value.__self__, value.__func__)


def of_bound(value: Any, _: Any) -> Iterable[Any]:
    """A method of C belongs to an object, a function to a module."""
    return () if type(value.__self__) is types.ModuleType else (value.__self__,)


def of_wrapped(value: Any, _: Any) -> Iterable[Any]:
    """An object whose whole state is in its referents."""
    return gc.get_referents(value)


def of_iterator(value: Any, scan: Any) -> Iterable[Any]:
    """An iterator over a sequence: its place in it can be set, unless it has come to the end."""
    scan.keep(iterator_back, value, value.__reduce__()[2:], WORD_BYTES)
    return gc.get_referents(value)


def iterator_back(value: Any, place: Any) -> int:
    """Set an iterator back to its place."""
    if value.__reduce__()[2:] == place:
        return SAME
    if place:
        value.__setstate__(place[0])
    return CHANGED if value.__reduce__()[2:] == place else CANNOT
