"""Savers for objects, classes, functions' cells and generators, and for opaque objects of C."""

from __future__ import annotations

import gc
import types
import weakref
from collections.abc import Iterable
from typing import Any

from .container_savers import CANNOT, CHANGED, SAME, WORD_BYTES, Saver, alike, of_dict
from .known import MRO, NAMESPACE, attributes

# What a dict has that holds the names of a module.
OF_MODULES = ("__builtins__", "__build_class__")


def of_instance(value: Any, scan: Any) -> Iterable[Any]:
    """An object of a class written in Python: its attributes and its slots."""
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
    """A weak reference; its target is not held."""
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
    """Put the content of slots back."""
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
    """The saver for a class that is built on a container."""

    def both(value: Any, scan: Any) -> Iterable[Any]:
        return [*saver(value, scan), *of_instance(value, scan)]

    return both


def of_counter(value: Any, scan: Any) -> Iterable[Any]:
    """A dict with attributes."""
    return both(of_dict)(value, scan)


def of_cell(value: Any, scan: Any) -> Iterable[Any]:
    """A cell: a variable shared by nested functions."""
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
    """Put back what a cell held."""
    if alike(content_of(value), held, len(content_of(value))):
        return SAME
    if held:
        value.cell_contents = held[0]
    else:
        del value.cell_contents
    return CHANGED


def class_back(kind: Any, before: Any) -> int:
    """Put the attributes of a class back."""
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
    """A library is left as it is: what it has loaded meanwhile belongs to it."""
    now = vars(module)
    return CANNOT if any(now.get(name) is not value for name, value in before.items()) else SAME


def names_in(code: Any) -> set[str]:
    """The names of a compiled function and of all that is written in it."""
    found, left = set(), [code]
    while left:
        one = left.pop()
        found.update(one.co_names)
        left += [const for const in one.co_consts if type(const) is types.CodeType]
    return found


def of_generator(value: Any, scan: Any) -> Iterable[Any]:
    """A generator: finished or not started, its state is its proof; suspended, it is opaque."""
    scan.mention(names_in(value.gi_code))
    scan.opaque(value, proof=generator_state)
    own = weakref.ref(value)
    scan.behind(held_by(value), lambda _: generator_state(own()))
    return ()


def of_frame(value: Any, _: Any) -> Iterable[Any]:
    """Where a generator stands: its variables."""
    return [part for part in held_by(value) if type(part) is not types.FrameType]


def of_cached(value: Any, scan: Any) -> Iterable[Any]:
    """A function with a cache (functools.lru_cache)."""
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
    """An opaque object of C."""
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
