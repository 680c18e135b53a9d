"""What is kept of an object, so that it can be put back into the same object: a shallow copy of its state.

Nothing is copied deeply and no object is replaced, so all that shared it before shares it afterwards. An
object whose state cannot be read is `opaque`: it is held by nobody here, as holding it would keep a file
open or a connection alive. Runs no code of the person's classes.
"""

from __future__ import annotations

import collections
import functools
import gc
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from operator import attrgetter, is_, itemgetter, methodcaller
from typing import Any

from .known import MRO, NAMESPACE, attributes

SAME, CHANGED, CANNOT = 0, 1, 2
# A container with more items is not copied.
MOST_ITEMS = 100_000
WORD_BYTES = 8

# Objects of these classes never change, and hold nothing that could.
LEAVES = {
    id(kind)
    for kind in (
        int, float, bool, complex, str, bytes, range, type(None), type(...), type(NotImplemented), object,
        types.CodeType, types.GetSetDescriptorType, types.MemberDescriptorType,
        types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType,
        types.MappingProxyType, type(sys.flags), type(sys.version_info),
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
# They hold what they were given, and nothing else.
HOLDERS = {id(functools.partial), id(itemgetter), id(attrgetter), id(methodcaller), id(types.GenericAlias)}
# What a dict has that holds the names of a module.
OF_MODULES = ("__builtins__", "__build_class__")

Rule = Callable[[Any, Any], Iterable[Any]]
"""Given an object and who asks, keeps the object's state with `keep` or calls it `opaque`; what it holds."""


class Rules:
    """Finds the rule for an object by its class; `names` is the person's namespace."""

    def __init__(self, names: Any) -> None:
        self.names = names
        self.leaves = set(LEAVES)
        self._kinds: list[Any] = []
        self._rules: dict[int, Rule] = {
            id(list): _list,
            id(dict): _dict,
            id(collections.OrderedDict): _dict,
            id(collections.defaultdict): _defaultdict,
            id(collections.Counter): _dict_with_attributes,
            id(set): _set,
            id(collections.deque): _deque,
            id(bytearray): _bytearray,
            id(tuple): _items,
            id(frozenset): _items,
            id(slice): _slice,
            id(types.FunctionType): self._function,
            id(types.MethodType): _method,
            id(types.CellType): _cell,
            id(types.ModuleType): self._module,
            id(property): _wrapped,
            id(staticmethod): _wrapped,
            id(classmethod): _wrapped,
            id(types.GeneratorType): _generator,
            id(types.FrameType): _frame,
            id(types.BuiltinFunctionType): _bound,
            id(types.MethodWrapperType): _bound,
            **dict.fromkeys(HOLDERS, _wrapped),
            id(functools._lru_cache_wrapper): _cached,
            **dict.fromkeys(ITERATORS, _iterator),
        }

    def of(self, value: Any) -> Rule | None:
        """The rule; None for what never changes."""
        kind = type(value)
        if id(kind) in self.leaves:
            return None
        rule = self._rules.get(id(kind))
        if rule is not None:
            return rule
        # Held, so that its id stays its own.
        self._kinds.append(kind)
        if self._is_leaf(kind):
            self.leaves.add(id(kind))
            return None
        rule = self._rules[id(kind)] = self._rule_for(kind)
        return rule

    def is_own(self, module: Any) -> bool:
        """Whether a module is of the person's project: a file that no installation has brought."""
        file = types.ModuleType.__getattribute__(module, "__dict__").get("__file__")
        if type(file) is not str or "site-packages" in file or "dist-packages" in file:
            return False
        return not file.startswith((sys.base_prefix, sys.prefix, "<"))

    def _is_leaf(self, kind: Any) -> bool:
        module, name = NAMESPACE(kind).get("__module__"), kind.__name__
        top = module.partition(".")[0] if type(module) is str else ""
        if name in LEAVES_OF.get(top, "").split():
            return True
        numpy = sys.modules.get("numpy")
        if numpy and hasattr(numpy, "generic") and issubclass(kind, (numpy.dtype, numpy.generic)):
            return bool(name != "void")
        return bool(top == "pandas" and name in ("NaTType", "NAType", "Flags"))

    def _rule_for(self, kind: Any) -> Rule:
        if issubclass(kind, type):
            return self._class
        if kind.__module__.partition(".")[0] in ("numpy", "pandas"):
            from .kept_tables import rule_for  # noqa: PLC0415 - only where there are tables

            rule = rule_for(kind)
            if rule is not None:
                return rule
        base = _base_of(kind)
        if base is object:
            return _instance
        if id(base) in self._rules and base in (list, dict, set, collections.deque, collections.OrderedDict):
            return _both(self._rules[id(base)])
        if base in (tuple, frozenset):
            return _both(_items)
        return _instance if base in (int, float, str, bytes) else _opaque

    def _function(self, function: Any, asked: Any) -> Iterable[Any]:
        held = [function.__defaults__, function.__kwdefaults__, function.__closure__]
        if function.__globals__ is self.names:
            asked.mention(names_in(function.__code__))
        elif self._is_of_project(function.__globals__.get("__name__", "")):
            held.append(function.__globals__)
        if function.__dict__:
            held.append(function.__dict__)
        return held

    def _is_of_project(self, name: str) -> bool:
        module = sys.modules.get(name)
        return type(module) is types.ModuleType and self.is_own(module)

    def _module(self, module: Any, asked: Any) -> Iterable[Any]:
        if self.is_own(module):
            return [vars(module)]
        asked.keep(_module_back, module, dict(vars(module)), 0)
        return ()

    def _class(self, kind: Any, asked: Any) -> Iterable[Any]:
        """A class that the person has written; all others stay as they are."""
        if kind.__module__ != self.names.get("__name__") and not self._is_of_project(kind.__module__):
            return ()
        own = {name: value for name, value in NAMESPACE(kind).items() if not _is_machinery(name)}
        asked.keep(_class_back, kind, own, WORD_BYTES * len(own))
        return [*own.values(), *kind.__bases__]


def names_in(code: Any) -> set[str]:
    """The names of a compiled function and of all that is written in it."""
    found, left = set(), [code]
    while left:
        one = left.pop()
        found.update(one.co_names)
        left += [const for const in one.co_consts if type(const) is types.CodeType]
    return found


def _base_of(kind: Any) -> Any:
    """The class of C that a class written in Python is built on; the class itself if it is of C."""
    for base in MRO(kind):
        if not _is_written(base):
            return base
    return object


def _is_written(kind: Any) -> bool:
    """Whether a class adds no state but attributes and slots to the one that it is built on."""
    own = NAMESPACE(kind)
    if kind is object or not kind.__flags__ & 1 << 9 or "__module__" not in own:
        return False
    slots = sum(type(value) is types.MemberDescriptorType for value in own.values())
    extra = kind.__basicsize__ - max(base.__basicsize__ for base in kind.__bases__)
    has_dict = any("__dict__" in NAMESPACE(base) for base in MRO(kind))
    made = "__slots__" in own or has_dict or "__weakref__" in own
    return made and extra <= WORD_BYTES * (slots + 2) and not hasattr(kind, "__reduce_cython__")


def _is_machinery(name: str) -> bool:
    return name in ("__dict__", "__weakref__", "__module__", "__doc__") or name.startswith("_abc_")


def _fits(value: Any, length: int, asked: Any) -> bool:
    if length > MOST_ITEMS:
        asked.opaque(value, "too large")
    return length <= MOST_ITEMS


def _list(value: Any, asked: Any) -> Iterable[Any]:
    if not _fits(value, list.__len__(value), asked):
        return ()
    items = list(list.__iter__(value))
    asked.keep(_list_back, value, items, WORD_BYTES * len(items))
    return items


def _list_back(value: Any, items: Any) -> int:
    if alike(list.__iter__(value), items, list.__len__(value)):
        return SAME
    list.__setitem__(value, slice(None), items)
    return CHANGED


def _dict(value: Any, asked: Any) -> Iterable[Any]:
    if not _fits(value, dict.__len__(value), asked):
        return ()
    items = list(type(value).items(value)) if type(value) is collections.OrderedDict else [*dict.items(value)]
    asked.keep(_dict_back, value, items, 4 * WORD_BYTES * len(items))
    return [part for item in items for part in item]


def _dict_back(value: Any, items: Any) -> int:
    ordered = isinstance(value, collections.OrderedDict)
    kind = collections.OrderedDict if ordered else dict
    now = [part for item in kind.items(value) for part in item]
    if alike(now, [part for item in items for part in item], len(now)):
        return SAME
    kind.clear(value)
    for key, item in items:
        kind.__setitem__(value, key, item)
    return CHANGED


def _defaultdict(value: Any, asked: Any) -> Iterable[Any]:
    return [value.default_factory, *_dict(value, asked)]


def _dict_with_attributes(value: Any, asked: Any) -> Iterable[Any]:
    return _both(_dict)(value, asked)


def _set(value: Any, asked: Any) -> Iterable[Any]:
    if not _fits(value, set.__len__(value), asked):
        return ()
    items = list(set.__iter__(value))
    asked.keep(_set_back, value, items, 4 * WORD_BYTES * len(items))
    return items


def _set_back(value: Any, items: Any) -> int:
    if {id(item) for item in set.__iter__(value)} == {id(item) for item in items}:
        return SAME
    set.clear(value)
    set.update(value, items)
    return CHANGED


def _deque(value: Any, asked: Any) -> Iterable[Any]:
    kind = collections.deque
    if not _fits(value, kind.__len__(value), asked):
        return ()
    items = list(kind.__iter__(value))
    asked.keep(_deque_back, value, items, WORD_BYTES * len(items))
    return items


def _deque_back(value: Any, items: Any) -> int:
    kind = collections.deque
    if alike(kind.__iter__(value), items, kind.__len__(value)):
        return SAME
    kind.clear(value)
    kind.extend(value, items)
    return CHANGED


def _bytearray(value: Any, asked: Any) -> Iterable[Any]:
    if _fits(value, len(value) // 100, asked):
        asked.keep(_bytearray_back, value, bytes(value), len(value))
    return ()


def _bytearray_back(value: Any, content: Any) -> int:
    if bytes(value) == content:
        return SAME
    value[:] = content
    return CHANGED


def alike(now: Iterable[Any], before: Any, length: int) -> bool:
    """Whether these are the same objects, in the same order; `length` is how many there are now."""
    return length == len(before) and all(map(is_, now, before))


def _items(value: Any, asked: Any) -> Iterable[Any]:
    base = tuple if isinstance(value, tuple) else frozenset
    if not _fits(value, base.__len__(value), asked):
        return ()
    return [*base.__iter__(value)]


def _slice(value: Any, _: Any) -> Iterable[Any]:
    return (value.start, value.stop, value.step)


def _method(value: Any, _: Any) -> Iterable[Any]:
    return (value.__self__, value.__func__)


def _bound(value: Any, _: Any) -> Iterable[Any]:
    """A method of C belongs to an object, a function to a module."""
    return () if type(value.__self__) is types.ModuleType else (value.__self__,)


def _wrapped(value: Any, _: Any) -> Iterable[Any]:
    return gc.get_referents(value)


def _cell(value: Any, asked: Any) -> Iterable[Any]:
    """What functions within one function share, such as a counter."""
    held = _content(value)
    asked.keep(_cell_back, value, held, WORD_BYTES)
    return held


def _content(cell: Any) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _cell_back(value: Any, held: Any) -> int:
    if alike(_content(value), held, len(_content(value))):
        return SAME
    if held:
        value.cell_contents = held[0]
    else:
        del value.cell_contents
    return CHANGED


def _class_back(kind: Any, before: Any) -> int:
    now = {name: value for name, value in NAMESPACE(kind).items() if not _is_machinery(name)}
    changed = SAME
    for name in now.keys() - before.keys():
        type.__delattr__(kind, name)
        changed = CHANGED
    for name, value in before.items():
        if name not in now or now[name] is not value:
            type.__setattr__(kind, name, value)
            changed = CHANGED
    return changed


def _module_back(module: Any, before: Any) -> int:
    """A library is left as it is: what it has loaded meanwhile belongs to it."""
    now = vars(module)
    return CANNOT if any(now.get(name) is not value for name, value in before.items()) else SAME


def _instance(value: Any, asked: Any) -> Iterable[Any]:
    """An object of a class written in Python: its attributes and its slots."""
    kind = type(value)
    if any("__del__" in NAMESPACE(base) for base in MRO(kind)) or _is_awaited(value):
        # Something happens when it goes.
        return _opaque(value, asked)
    held: list[Any] = [kind]
    own = attributes(value)
    if own is not None:
        held.append(own)
    slots = [
        slot
        for base in MRO(kind)
        for slot in NAMESPACE(base).values()
        if type(slot) is types.MemberDescriptorType
    ]
    if slots:
        state = [(slot, _slot(slot, value)) for slot in slots]
        asked.keep(_slots_back, value, state, WORD_BYTES * len(state))
        held += [part for _, parts in state for part in parts]
    return held


def _is_awaited(value: Any) -> bool:
    """Whether somebody wants to know when an object goes."""
    return any(one.__callback__ is not None for one in weakref.getweakrefs(value))


def _slot(slot: Any, value: Any) -> tuple[Any, ...]:
    try:
        return (slot.__get__(value),)
    except AttributeError:
        return ()


def _slots_back(value: Any, state: Any) -> int:
    changed = SAME
    for slot, held in state:
        now = _slot(slot, value)
        if alike(now, held, len(now)):
            continue
        changed = CHANGED
        if held:
            slot.__set__(value, held[0])
        else:
            slot.__delete__(value)
    return changed


def _both(rule: Rule) -> Rule:
    """The rule for a class that is built on a container."""

    def both(value: Any, asked: Any) -> Iterable[Any]:
        return [*rule(value, asked), *_instance(value, asked)]

    return both


def _generator(value: Any, asked: Any) -> Iterable[Any]:
    """One that has ended stays so, and one that has not begun is seen not to have."""
    asked.mention(names_in(value.gi_code))
    asked.opaque(value, tells=_generator_tells)
    own = weakref.ref(value)
    asked.behind(_held(value), lambda _: _generator_tells(own()))
    return ()


def _frame(value: Any, _: Any) -> Iterable[Any]:
    return [part for part in _held(value) if type(part) is not types.FrameType]


def _cached(value: Any, asked: Any) -> Iterable[Any]:
    """A function that remembers its results."""
    asked.opaque(value, "cache", tells=type(value).cache_info)
    return (value.__wrapped__,)


def _generator_tells(value: Any) -> Any:
    frame = value.gi_frame
    if frame is None:
        return "ended"
    return None if value.gi_running or _has_begun(value) else "not begun"


def _has_begun(generator: Any) -> bool:
    suspended = getattr(generator, "gi_suspended", None)
    return bool(suspended) if suspended is not None else generator.gi_frame.f_lasti != -1


def _iterator(value: Any, asked: Any) -> Iterable[Any]:
    """An iterator over a sequence: its place in it can be set, unless it has come to the end."""
    asked.keep(_iterator_back, value, value.__reduce__()[2:], WORD_BYTES)
    return gc.get_referents(value)


def _iterator_back(value: Any, place: Any) -> int:
    if value.__reduce__()[2:] == place:
        return SAME
    if place:
        value.__setstate__(place[0])
    return CHANGED if value.__reduce__()[2:] == place else CANNOT


def _opaque(value: Any, asked: Any) -> Iterable[Any]:
    asked.opaque(value)
    asked.behind(_held(value))
    return ()


def _held(value: Any) -> list[Any]:
    """What an object of C holds, without modules and their names."""
    return [
        part
        for part in gc.get_referents(value)
        if not (type(part) is dict and any(name in part for name in OF_MODULES))
        and type(part) is not types.ModuleType
    ]
