"""Savers for containers, iterators, objects, classes, generators, and opaque objects of C."""

from __future__ import annotations

import collections
import gc
import types
import weakref
from collections.abc import Callable, Iterable
from operator import is_
from typing import Any

from .known import MRO, NAMESPACE, attributes

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


def of_container(kind: Any, refill: Callable[[Any, Any], Any], words: int = 1) -> Saver:
    """Return the saver of the items of a container; `refill(value, items)` replaces all of them."""
    # The order of a set is no part of its state.
    ids: Any = set if kind is set else list

    def back(value: Any, items: Any) -> int:
        if ids(map(id, kind.__iter__(value))) == ids(map(id, items)):
            return SAME
        refill(value, items)
        return CHANGED

    def save(value: Any, scan: Any) -> Iterable[Any]:
        if not fits(value, kind.__len__(value), scan):
            return ()
        items = list(kind.__iter__(value))
        scan.keep(back, value, items, words * WORD_BYTES * len(items))
        return items

    return save


of_list = of_container(list, lambda value, items: list.__setitem__(value, slice(None), items))
of_set = of_container(set, lambda value, items: (set.clear(value), set.update(value, items)), words=4)
of_deque = of_container(
    collections.deque,
    lambda value, items: (collections.deque.clear(value), collections.deque.extend(value, items)),
)


def of_dict(value: Any, scan: Any) -> Iterable[Any]:
    """Save the keys and values of a dict."""
    if not fits(value, dict.__len__(value), scan):
        return ()
    items = list(type(value).items(value)) if type(value) is collections.OrderedDict else [*dict.items(value)]
    scan.keep(dict_back, value, items, 4 * WORD_BYTES * len(items))
    return [part for item in items for part in item]


def dict_back(value: Any, items: Any) -> int:
    """Restore keys and values, in their order."""
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
    """Save a dict with a factory for missing values."""
    scan.keep(factory_back, value, value.default_factory, WORD_BYTES)
    return [value.default_factory, *of_dict(value, scan)]


def factory_back(value: Any, factory: Any) -> int:
    """Restore the factory."""
    if value.default_factory is factory:
        return SAME
    value.default_factory = factory
    return CHANGED


def of_bytearray(value: Any, scan: Any) -> Iterable[Any]:
    """Save the bytes of a bytearray."""
    if fits(value, len(value) // 100, scan):
        scan.keep(bytearray_back, value, bytes(value), len(value))
    return ()


def bytearray_back(value: Any, content: Any) -> int:
    """Restore the bytes."""
    if bytes(value) == content:
        return SAME
    value[:] = content
    return CHANGED


def alike(now: Iterable[Any], before: Any, length: int) -> bool:
    """Return True if these are the same objects in the same order; `length` is the current count."""
    return length == len(before) and all(map(is_, now, before))


def of_items(value: Any, scan: Any) -> Iterable[Any]:
    """Save nothing of a tuple or frozenset; return its items, which may change."""
    base = tuple if issubclass(type(value), tuple) else frozenset
    if not fits(value, base.__len__(value), scan):
        return ()
    return [*base.__iter__(value)]


def of_slice(value: Any, _: Any) -> Iterable[Any]:
    """Return the parts of a slice."""
    return (value.start, value.stop, value.step)


def of_method(value: Any, _: Any) -> Iterable[Any]:
    """Return the object and the function of a method."""
    return (value.__self__, value.__func__)


def of_bound(value: Any, _: Any) -> Iterable[Any]:
    """Return the object of a method of C; nothing for a function of C, which belongs to a module."""
    return () if type(value.__self__) is types.ModuleType else (value.__self__,)


def of_wrapped(value: Any, _: Any) -> Iterable[Any]:
    """Return the referents of an object that has no other state."""
    return gc.get_referents(value)


def of_iterator(value: Any, scan: Any) -> Iterable[Any]:
    """Save the position of an iterator over a sequence, which can be set unless it is at the end."""
    scan.keep(iterator_back, value, value.__reduce__()[2:], WORD_BYTES)
    return gc.get_referents(value)


def iterator_back(value: Any, place: Any) -> int:
    """Restore the position of an iterator."""
    if value.__reduce__()[2:] == place:
        return SAME
    if place:
        value.__setstate__(place[0])
    return CHANGED if value.__reduce__()[2:] == place else CANNOT


# What a dict has that holds the names of a module.
OF_MODULES = ("__builtins__", "__build_class__")


def of_instance(value: Any, scan: Any) -> Iterable[Any]:
    """Save attributes and slots of an object of a class written in Python."""
    kind = type(value)
    scan.keep(kind_back, value, kind, WORD_BYTES)
    if any("__del__" in NAMESPACE(base) for base in MRO(kind)) or is_awaited(value):
        # Something happens when it goes.
        return of_opaque(value, scan)
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
        state = [(slot, slot_of(slot, value)) for slot in slots]
        scan.keep(slots_back, value, state, WORD_BYTES * len(state))
        held += [part for _, parts in state for part in parts]
    return held


def kind_back(value: Any, kind: Any) -> int:
    """Restore the class of an object."""
    if type(value) is kind:
        return SAME
    object.__setattr__(value, "__class__", kind)
    return CHANGED


def of_weak(value: Any, scan: Any) -> Iterable[Any]:
    """Follow a weak reference without holding its target."""
    scan.behind([value()])
    return ()


def function_back(function: Any, state: Any) -> int:
    """Restore the code and the defaults of a function."""
    if alike((function.__code__, function.__defaults__, function.__kwdefaults__), state, len(state)):
        return SAME
    function.__code__, function.__defaults__, function.__kwdefaults__ = state
    return CHANGED


def is_awaited(value: Any) -> bool:
    """Return True if an object has a finalizer or weak references with callbacks."""
    return any(one.__callback__ is not None for one in weakref.getweakrefs(value))


def slot_of(slot: Any, value: Any) -> tuple[Any, ...]:
    """Return the value of a slot in a tuple; () if it is empty."""
    try:
        return (slot.__get__(value),)
    except AttributeError:
        return ()


def slots_back(value: Any, state: Any) -> int:
    """Restore the content of slots."""
    changed = SAME
    for slot, held in state:
        now = slot_of(slot, value)
        if alike(now, held, len(now)):
            continue
        changed = CHANGED
        if held:
            slot.__set__(value, held[0])
        else:
            slot.__delete__(value)
    return changed


def both(saver: Saver) -> Saver:
    """Return the saver for a class that derives from a container."""

    def both(value: Any, scan: Any) -> Iterable[Any]:
        return [*saver(value, scan), *of_instance(value, scan)]

    return both


def of_cell(value: Any, scan: Any) -> Iterable[Any]:
    """Save the content of a cell, a variable shared by nested functions."""
    held = content_of(value)
    scan.keep(cell_back, value, held, WORD_BYTES)
    return held


def content_of(cell: Any) -> tuple[Any, ...]:
    """Return the content of a cell in a tuple; () if it is empty."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def cell_back(value: Any, held: Any) -> int:
    """Restore the content of a cell."""
    if alike(content_of(value), held, len(content_of(value))):
        return SAME
    if held:
        value.cell_contents = held[0]
    else:
        del value.cell_contents
    return CHANGED


def class_back(kind: Any, before: Any) -> int:
    """Restore the attributes of a class."""
    now = {name: value for name, value in NAMESPACE(kind).items() if not is_machinery(name)}
    changed = SAME
    for name in now.keys() - before.keys():
        type.__delattr__(kind, name)
        changed = CHANGED
    for name, value in before.items():
        if name not in now or now[name] is not value:
            type.__setattr__(kind, name, value)
            changed = CHANGED
    return changed


def is_machinery(name: str) -> bool:
    """Return True if Python itself sets a name in every class."""
    return name in ("__dict__", "__weakref__", "__module__", "__doc__") or name.startswith("_abc_")


def module_back(module: Any, before: Any) -> int:
    """Restore nothing: a library keeps what it has loaded meanwhile."""
    now = vars(module)
    return CANNOT if any(now.get(name) is not value for name, value in before.items()) else SAME


def names_in(code: Any) -> set[str]:
    """Return the names used in compiled code and in the code nested in it."""
    found, left = set(), [code]
    while left:
        one = left.pop()
        found.update(one.co_names)
        left += [const for const in one.co_consts if type(const) is types.CodeType]
    return found


def of_generator(value: Any, scan: Any) -> Iterable[Any]:
    """Save a generator: finished or not started, its state is its proof; suspended, it is opaque."""
    scan.mention(names_in(value.gi_code))
    scan.opaque(value, proof=generator_state)
    own = weakref.ref(value)
    scan.behind(held_by(value), lambda _: generator_state(own()))
    return ()


def of_frame(value: Any, _: Any) -> Iterable[Any]:
    """Return the variables of a generator's frame."""
    return [part for part in held_by(value) if type(part) is not types.FrameType]


def of_cached(value: Any, scan: Any) -> Iterable[Any]:
    """Note a function with a cache (functools.lru_cache) as opaque."""
    scan.opaque(value, "cache", proof=type(value).cache_info)
    return (value.__wrapped__,)


def generator_state(value: Any) -> Any:
    """Return a generator's state as a proof; None if it is suspended."""
    frame = value.gi_frame
    if frame is None:
        return "ended"
    return None if value.gi_running or has_begun(value) else "not begun"


def has_begun(generator: Any) -> bool:
    """Return True if a generator has started."""
    suspended = getattr(generator, "gi_suspended", None)
    return bool(suspended) if suspended is not None else generator.gi_frame.f_lasti != -1


def of_opaque(value: Any, scan: Any) -> Iterable[Any]:
    """Report an object whose C state cannot be saved as opaque."""
    scan.opaque(value)
    scan.behind(held_by(value))
    return ()


def held_by(value: Any) -> list[Any]:
    """Return the referents of an object of C, without modules and their dicts."""
    return [
        part
        for part in gc.get_referents(value)
        if not (type(part) is dict and any(name in part for name in OF_MODULES))
        and type(part) is not types.ModuleType
    ]
