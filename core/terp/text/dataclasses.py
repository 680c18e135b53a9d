"""The standard library's `dataclass`, but the methods of a class are made at its first use.

Making them takes 0.3 ms for each of 230 classes, and a short call of terp uses a third of these. Classes
with slots and a docstring wait; all others are made at once. A mistake in the fields of a class is raised
at its first use.

    from terp.text.dataclasses import dataclass, field, replace
"""

import dataclasses
import threading
from collections.abc import Callable, Mapping
from dataclasses import Field, asdict, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

__all__ = ["Field", "asdict", "dataclass", "field", "fields", "replace"]

if TYPE_CHECKING:
    # Type checkers see the decorator that they know.
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """Return the class as `dataclasses.dataclass` does, or a decorator with these options."""
        if cls is None:
            return partial(dataclass, **options)
        if _waits(cls, options):
            return _Waiting(cls, options).cls
        return dataclasses.dataclass(cls, **options)


# Other options are rare.
_KNOWN = {"slots", "frozen", "eq", "kw_only"}
_FOR_INSTANCES = ("__init__", "__setattr__", "__delattr__")
_FIELDS = "__dataclass_fields__"


def _waits(cls: type, options: Mapping[str, bool]) -> bool:
    """Return True if the methods of a class can be made later: a missing docstring is made of `__init__`."""
    return bool(options.get("slots") and options.keys() <= _KNOWN and cls.__doc__)


class _Waiting:
    """A class with the fields and slots of a dataclass, and what its methods are made of."""

    def __init__(self, written: type, options: Mapping[str, bool]) -> None:
        self._written, self._options, self._lock = written, options, threading.RLock()
        eq, frozen, there = options.get("eq", True), options.get("frozen", False), written.__dict__
        names = ["__init__", "__repr__", *(["__eq__"] if eq else [])]
        if frozen:
            names += ["__setattr__", "__delattr__", "__getstate__", "__setstate__"]
        self._names = [name for name in names if name not in there]
        # With a method `__eq__` Python itself sets `__hash__` to None.
        has_hash = "__hash__" in there and not (there["__hash__"] is None and "__eq__" in there)
        if eq and frozen and not has_hash:
            self._names.append("__hash__")
        inherited = [getattr(base, _FIELDS) for base in written.__bases__ if hasattr(base, _FIELDS)]
        # The standard library compares `frozen` with that of the bases, and makes two methods of it.
        first = {"frozen": frozen and bool(inherited), "kw_only": options.get("kw_only", False)}
        self.cls: type = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, **first)(written)
        if first["frozen"]:
            del written.__setattr__, written.__delattr__
        self._fields = [
            (name, row)
            for name, row in getattr(self.cls, _FIELDS).items()
            if all(fields.get(name) is not row for fields in inherited)
        ]
        params: Any = self.cls.__dict__["__dataclass_params__"]
        params.init, params.repr, params.eq, params.frozen = True, True, eq, frozen
        for name in self._names:
            setattr(self.cls, name, _Unmade(name, self._made))
        if eq and not frozen and not has_hash:
            self.cls.__hash__ = None  # type: ignore[assignment]

    def _made(self, name: str) -> Any:
        """Return a method of the class; make it, and others with it, if this is its first use."""
        with self._lock:
            if isinstance(self.cls.__dict__[name], _Unmade):
                # Most classes only get instances, whose methods take half of the time of all.
                few = {"repr": False, "eq": False} if name in _FOR_INSTANCES else {}
                names = [one for one in self._names if one in _FOR_INSTANCES or not few]
                # The first decorator replaced each `field()` by its default; the second needs them again.
                for field_name, row in self._fields:
                    setattr(self._written, field_name, row)
                complete: type = dataclasses.dataclass(**{**self._options, **few})(self._written)
                for method in names:
                    setattr(self.cls, method, complete.__dict__[method])
                    if method in self._written.__dict__:
                        delattr(self._written, method)
            return self.cls.__dict__[name]


class _Unmade:
    """A method of a class that is made at its first lookup."""

    __slots__ = ("_made", "_name")

    def __init__(self, name: str, made: Callable[[str], Any]) -> None:
        self._name, self._made = name, made

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        made = self._made(self._name)
        return made.__get__(instance, owner) if hasattr(made, "__get__") else made
