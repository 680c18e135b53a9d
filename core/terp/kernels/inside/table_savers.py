"""Savers for arrays and tables: copies of their values, restored into the same memory."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from operator import is_
from typing import Any

from .known import attributes
from .object_savers import CANNOT, CHANGED, MOST_ITEMS, SAME, TOO_LARGE, Saver, alike

# Where pandas' own columns hold what can change.
HOLDING = ("_ndarray", "_codes", "_data", "_mask", "_pa_array", "_left", "_right", "_sparse_values")


def saver_for(kind: Any) -> Saver | None:
    """Return the saver for a class of numpy or pandas; None for one without a special saver."""
    numpy, pandas = sys.modules["numpy"], sys.modules.get("pandas")
    if issubclass(kind, numpy.ndarray):
        return _array
    if any(kind is getattr(numpy.random, name) for name in ("Generator", "RandomState")):
        return _random
    if pandas is None:
        return None
    if issubclass(kind, (pandas.DataFrame, pandas.Series)):
        return _table
    if issubclass(kind, pandas.Index):
        return _index
    return _column if issubclass(kind, pandas.api.extensions.ExtensionArray) else None


def _array(value: Any, scan: Any) -> Iterable[Any]:
    numpy = sys.modules["numpy"]
    form = (value.shape, value.strides, value.dtype)
    if isinstance(value.base, numpy.ndarray):
        scan.keep(_form_back, value, form, 0)
        return [value.base]
    if value.base is not None or not scan.has_room(value.nbytes):
        # Its memory belongs to another object, such as a file; or it is too large.
        scan.opaque(value, _size(value.nbytes) if value.base is None else "")
        scan.behind([value.base])
        return ()
    if value.dtype.hasobject:
        return _objects(value, scan)
    copy, size = scan.copied(value, same_bytes)
    scan.keep(_array_back, value, (form, copy), size)
    return ()


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


def _objects(value: Any, scan: Any) -> Iterable[Any]:
    """Save an array of objects. pandas quickly recognizes one with only texts and numbers."""
    if value.size > MOST_ITEMS:
        scan.opaque(value, TOO_LARGE)
        return ()
    scan.keep(_array_back, value, ((value.shape, value.strides, value.dtype), value.copy()), value.nbytes)
    pandas = sys.modules.get("pandas")
    plain = ("string", "bytes", "floating", "integer", "boolean", "decimal", "datetime", "date", "empty")
    if pandas is not None and pandas.api.types.infer_dtype(value, skipna=True) in plain:
        return ()
    items: list[Any] = value.ravel().tolist()
    return items


def same_bytes(one: Any, other: Any) -> bool:
    """Return True if two arrays of one shape and dtype are bitwise equal, or hold the same objects."""
    numpy = sys.modules["numpy"]
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.hasobject:
        return all(map(is_, one.ravel().tolist(), other.ravel().tolist()))
    if one.flags.c_contiguous and other.flags.c_contiguous:
        unit = f"u{one.dtype.itemsize}" if one.dtype.itemsize in (1, 2, 4, 8) else "u1"
        return bool(numpy.array_equal(one.reshape(-1).view(unit), other.reshape(-1).view(unit)))
    return bool(one.tobytes() == other.tobytes())


def _array_back(value: Any, state: Any) -> int:
    form, copy = state
    changed = _form_back(value, form)
    if changed == CANNOT or same_bytes(value, copy):
        return changed
    value[...] = copy
    return CHANGED


def _form_back(value: Any, form: Any) -> int:
    shape, strides, dtype = form
    if (value.shape, value.strides, value.dtype) == form:
        return SAME
    if value.dtype != dtype or value.size != math.prod(shape):
        return CANNOT
    value.shape = shape
    return CHANGED if value.strides == strides else CANNOT


def _table(value: Any, scan: Any) -> Iterable[Any]:
    manager = object.__getattribute__(value, "_mgr")
    arrays = [block.values for block in manager.blocks]
    size = sum(array.nbytes for array in arrays)
    if not scan.has_room(size):
        scan.opaque(value, _size(size))
        for array in arrays:
            scan.opaque(array, _size(size))
        return ()
    own = attributes(value)
    places = [block.mgr_locs for block in manager.blocks] if manager.ndim == 2 else []
    state = (dict(own), manager, list(manager.axes), manager.blocks, arrays, places)
    scan.keep(_table_back, value, state, 0)
    return [*arrays, *manager.axes, *(part for name, part in own.items() if name != "_mgr")]


def _table_back(value: Any, state: Any) -> int:
    kept, manager, axes, blocks, arrays, places = state
    own = attributes(value)
    changed = SAME
    if any(own.get(name) is not part for name, part in kept.items() if name != "_item_cache"):
        changed = CHANGED
    own.clear()
    own.update(kept)
    own.get("_item_cache", {}).clear()
    now = (manager.blocks, list(manager.axes), [block.values for block in manager.blocks])
    if not (now[0] is blocks and _same(now[1], axes) and _same(now[2], arrays)):
        changed = CHANGED
    manager.axes = list(axes)
    manager.blocks = blocks
    for number, block in enumerate(blocks):
        block.values = arrays[number]
        if places:
            block.mgr_locs = places[number]
    if places:
        manager._rebuild_blknos_and_blklocs()
        manager._known_consolidated = False
    return changed


def _same(now: Any, before: Any) -> bool:
    return alike(now, before, len(now))


def _index(value: Any, scan: Any) -> Iterable[Any]:
    """Save the names of an index; nothing else in it can change."""
    scan.keep(_index_back, value, list(value.names), 0)
    return ()


def _index_back(value: Any, names: Any) -> int:
    if _same(list(value.names), names):
        return SAME
    value.names = names
    return CHANGED


def _column(value: Any, scan: Any) -> Iterable[Any]:
    state = [(name, getattr(value, name)) for name in HOLDING if hasattr(value, name)]
    if not state:
        scan.opaque(value)
        return ()
    scan.keep(_column_back, value, state, 0)
    return [held for _, held in state if "pyarrow" not in type(held).__module__]


def _column_back(value: Any, state: Any) -> int:
    changed = SAME
    for name, held in state:
        if getattr(value, name) is not held:
            object.__setattr__(value, name, held)
            changed = CHANGED
    return changed


def _random(value: Any, scan: Any) -> Iterable[Any]:
    """Save a random number generator, which repeats its numbers after a restore."""
    source = value.bit_generator if hasattr(value, "bit_generator") else value._bit_generator
    scan.keep(_random_back, source, source.state, 0)
    return ()


def _random_back(source: Any, state: Any) -> int:
    if repr(source.state) == repr(state):
        return SAME
    source.state = state
    return CHANGED
