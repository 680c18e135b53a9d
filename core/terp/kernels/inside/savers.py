"""Savers for checkpoints: shallow copies of objects' states, to restore into the same objects.

Nothing is copied deeply and no object is replaced, so references stay shared. An object whose state cannot
be read is `opaque`: no reference to it is held, which would keep a file open or a connection alive. Savers
run no code of the user's classes.
"""

from __future__ import annotations

import collections
import functools
import sys
import types
import weakref
from collections.abc import Iterable
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

from .known import MRO, NAME, NAMESPACE, StoredValue
from .object_savers import (
    WORD_BYTES,
    Saver,
    both,
    class_back,
    function_back,
    is_machinery,
    module_back,
    names_in,
    of_bound,
    of_bytearray,
    of_cached,
    of_cell,
    of_defaultdict,
    of_deque,
    of_dict,
    of_frame,
    of_generator,
    of_instance,
    of_items,
    of_iterator,
    of_list,
    of_method,
    of_opaque,
    of_set,
    of_slice,
    of_weak,
    of_wrapped,
)
from .table_savers import saver_for

FLAGS, SIZE, BASES = (type.__dict__[name].__get__ for name in ("__flags__", "__basicsize__", "__bases__"))
MODULE = type.__dict__["__module__"].__get__
HEAP_TYPE = 1 << 9
CONTAINERS = (list, dict, set, collections.deque, collections.OrderedDict)

# Objects of these classes are immutable, and so is their content.
LEAVES = {
    id(kind)
    for kind in (
        int, float, bool, complex, str, bytes, range, type(None), type(...), type(NotImplemented), object,
        types.CodeType, types.GetSetDescriptorType, types.MemberDescriptorType,
        types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType,
        types.MappingProxyType, type(sys.flags), type(sys.version_info), StoredValue,
    )
}  # fmt: skip
LEAVES_OF = {
    "datetime": "date datetime time timedelta timezone",
    "decimal": "Decimal Context",
    "fractions": "Fraction",
    "pathlib": "Path PosixPath WindowsPath PurePath PurePosixPath PureWindowsPath",
    "re": "Pattern Match",
    "uuid": "UUID",
    "zoneinfo": "ZoneInfo",
    "pandas": "Timestamp Timedelta Period Interval CategoricalDtype DatetimeTZDtype StringDtype Int64Dtype",
}
ITERATORS = {id(type(one)) for one in (iter([]), iter(()), iter(""), iter(b""), iter(range(0)))}
# Their whole state is in their referents.
HOLDERS = {id(functools.partial), id(itemgetter), id(attrgetter), id(methodcaller), id(types.GenericAlias)}


class Savers:
    """Finds the saver for an object by its class; `names` is the user's namespace."""

    def __init__(self, names: Any) -> None:
        self.names = names
        self.leaves = set(LEAVES)
        self._kinds: list[Any] = []
        self._savers: dict[int, Saver] = {
            id(list): of_list,
            id(dict): of_dict,
            id(collections.OrderedDict): of_dict,
            id(collections.defaultdict): of_defaultdict,
            id(collections.Counter): both(of_dict),
            id(set): of_set,
            id(collections.deque): of_deque,
            id(bytearray): of_bytearray,
            id(tuple): of_items,
            id(frozenset): of_items,
            id(slice): of_slice,
            id(types.FunctionType): self._function,
            id(types.MethodType): of_method,
            id(types.CellType): of_cell,
            id(types.ModuleType): self._module,
            id(property): of_wrapped,
            id(staticmethod): of_wrapped,
            id(classmethod): of_wrapped,
            id(weakref.ref): of_weak,
            id(types.GeneratorType): of_generator,
            id(types.FrameType): of_frame,
            id(types.BuiltinFunctionType): of_bound,
            id(types.MethodWrapperType): of_bound,
            **dict.fromkeys(HOLDERS, of_wrapped),
            id(functools._lru_cache_wrapper): of_cached,
            **dict.fromkeys(ITERATORS, of_iterator),
        }

    def of(self, value: Any) -> Saver | None:
        """Return the saver; None for an immutable object."""
        kind = type(value)
        if id(kind) in self.leaves:
            return None
        saver = self._savers.get(id(kind))
        if saver is not None:
            return saver
        # Held, so that its id stays its own.
        self._kinds.append(kind)
        if self._is_leaf(kind):
            self.leaves.add(id(kind))
            return None
        saver = self._savers[id(kind)] = self._saver_for(kind)
        return saver

    def is_own(self, module: Any) -> bool:
        """Return True if a module belongs to the user's project: its file is not an installed one."""
        file = types.ModuleType.__getattribute__(module, "__dict__").get("__file__")
        if type(file) is not str or "site-packages" in file or "dist-packages" in file:
            return False
        return not file.startswith((sys.base_prefix, sys.prefix, "<"))

    def _is_leaf(self, kind: Any) -> bool:
        name, top = NAME(kind), top_of(kind)
        if name in LEAVES_OF.get(top, "").split():
            return True
        numpy = sys.modules.get("numpy")
        if numpy and hasattr(numpy, "generic") and issubclass(kind, (numpy.dtype, numpy.generic)):
            return bool(name != "void")
        return bool(top == "pandas" and name in ("NaTType", "NAType", "Flags"))

    def _saver_for(self, kind: Any) -> Saver:
        if issubclass(kind, type):
            return self._class
        if top_of(kind) in ("numpy", "pandas"):
            saver = saver_for(kind)
            if saver is not None:
                return saver
        base = _base_of(kind)
        if base is object:
            return of_instance
        if any(base is kind for kind in CONTAINERS):
            return both(self._savers[id(base)])
        if base is tuple or base is frozenset:
            return both(of_items)
        return of_instance if any(base is kind for kind in (int, float, str, bytes)) else of_opaque

    def _function(self, function: Any, scan: Any) -> Iterable[Any]:
        held = [function.__defaults__, function.__kwdefaults__, function.__closure__]
        if function.__globals__ is self.names:
            scan.mention(names_in(function.__code__))
        elif self._is_of_project(function.__globals__.get("__name__", "")):
            held.append(function.__globals__)
        state = (function.__code__, function.__defaults__, function.__kwdefaults__)
        scan.keep(function_back, function, state, WORD_BYTES)
        return [*held, function.__dict__]

    def _is_of_project(self, name: Any) -> bool:
        module = sys.modules.get(name) if type(name) is str else None
        return type(module) is types.ModuleType and self.is_own(module)

    def _module(self, module: Any, scan: Any) -> Iterable[Any]:
        if self.is_own(module):
            return [vars(module)]
        scan.keep(module_back, module, dict(vars(module)), 0)
        return ()

    def _class(self, kind: Any, scan: Any) -> Iterable[Any]:
        """Save a class that the user wrote; others are not restored."""
        module = NAMESPACE(kind).get("__module__")
        if module != self.names.get("__name__") and not self._is_of_project(module):
            return ()
        own = {name: value for name, value in NAMESPACE(kind).items() if not is_machinery(name)}
        scan.keep(class_back, kind, own, WORD_BYTES * len(own))
        return [*own.values(), *BASES(kind)]


def _base_of(kind: Any) -> Any:
    """Return the C class that a Python class derives from; the class itself if it is of C."""
    for base in MRO(kind):
        if not _is_written(base):
            return base
    return object


def _is_written(kind: Any) -> bool:
    """Return True if a class adds only attributes and slots to the state of its base."""
    own = NAMESPACE(kind)
    if kind is object or not FLAGS(kind) & HEAP_TYPE or "__module__" not in own:
        return False
    slots = sum(type(value) is types.MemberDescriptorType for value in own.values())
    extra = SIZE(kind) - max(SIZE(base) for base in BASES(kind))
    has_dict = any("__dict__" in NAMESPACE(base) for base in MRO(kind))
    made = "__slots__" in own or has_dict or "__weakref__" in own
    return made and extra <= WORD_BYTES * (slots + 2) and "__reduce_cython__" not in own


def top_of(kind: Any) -> str:
    """Return the top-level package of a class; "" if unknown."""
    # A class of C has it in no dict.
    module = NAMESPACE(kind).get("__module__") or MODULE(kind)
    return module.partition(".")[0] if type(module) is str else ""
