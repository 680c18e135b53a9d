"""Conversion of a tool's arguments from JSON to the types of its annotations.

A value that has the right type stays unchanged, and so does one whose type cannot be checked.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import inspect
import json
import pathlib
import typing
import uuid
from collections.abc import Callable
from typing import Any

LONGEST = 80
SEQUENCES: dict[Any, Any] = {
    list: list,
    set: set,
    frozenset: frozenset,
    collections.abc.Sequence: list,
    collections.abc.Iterable: list,
    collections.abc.Collection: list,
    collections.abc.Set: set,
}
MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class Unfit(Exception):
    """A value cannot be converted to a type."""


def converted(tool: str, given: dict[str, Any], hints: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, converted to the types in `hints`.

    Raises TypeError, with the tool, the parameter, its type and the value, if one cannot be converted.
    """
    made = {}
    for name, value in given.items():
        kind = hints.get(name, Any)
        try:
            made[name] = value if value is None else convert(value, kind)
        except (Unfit, ValueError, TypeError, ArithmeticError, RecursionError):
            raise TypeError(f"Tool `{tool}`: `{name}` must be {named(kind)}, not {shown(value)}.") from None
    return made


def hints_of(function: Any) -> dict[str, Any]:
    """Return the annotated types of a function; {} if one cannot be evaluated."""
    try:
        return typing.get_type_hints(inspect.unwrap(function))
    except Exception:  # noqa: BLE001 - a name that is not there, syntax of a later Python
        return {}


def written_hints(parameters: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the types of declared parameters; `Any` for one that this Python cannot evaluate."""
    return {one["name"]: evaluated(one["type"]) for one in parameters}


def evaluated(written: str) -> Any:
    """Return the type that a source text denotes; `Any` if it cannot be evaluated."""
    try:
        return eval(written, {**vars(typing)})  # noqa: S307
    except Exception:  # noqa: BLE001 - syntax of a later Python
        return Any


def plain(value: Any) -> Any:
    """Return a value as JSON; objects become their repr."""
    return json.loads(json.dumps(value, default=repr))


def convert(value: Any, kind: Any) -> Any:
    """Convert a value to a type."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union or type(kind).__name__ == "UnionType":
        return one_of(value, args)
    if origin is typing.Literal:
        return chosen(value, args)
    if getattr(kind, "__metadata__", None) is not None:
        return convert(value, args[0])
    container = origin or kind
    if container is tuple or container in SEQUENCES or container in MAPPINGS:
        return contained(value, container, args)
    return single(value, kind) if isinstance(kind, type) and origin is None else value


def contained(value: Any, container: Any, args: Any) -> Any:
    """Convert a container, with its items."""
    if container is tuple:
        return as_tuple(value, args)
    return as_mapping(value, args) if container in MAPPINGS else as_sequence(value, container, args)


def one_of(value: Any, kinds: Any) -> Any:
    """Return a value unchanged if it has one of the types, else converted to the first that fits."""
    found = []
    for kind in kinds:
        if kind is type(None):
            continue
        try:
            made = convert(value, kind)
        except (Unfit, ValueError, TypeError, ArithmeticError):
            continue
        if made is value or (type(made) is type(value) and made == value):
            return value
        found.append(made)
    if not found:
        raise Unfit
    return found[0]


def chosen(value: Any, choices: Any) -> Any:
    """Return the choice that equals a value; a number may be written as text."""
    for choice in choices:
        if type(choice) is type(value) and choice == value:
            return choice
    for choice in choices:
        if not isinstance(value, bool) and str(choice) == str(value):
            return choice
    raise Unfit


def as_tuple(value: Any, kinds: Any) -> Any:
    """Convert to a tuple."""
    items = items_of(value)
    if not kinds:
        return tuple(items)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(convert(item, kinds[0]) for item in items)
    if kinds == ((),):
        kinds = ()
    if len(items) != len(kinds):
        raise Unfit
    return tuple(convert(item, kind) for item, kind in zip(items, kinds))  # noqa: B905 - Python 3.8


def as_sequence(value: Any, container: Any, kinds: Any) -> Any:
    """Convert to a list or a set."""
    if not kinds and isinstance(value, container) and not isinstance(value, (str, bytes)):
        return value
    return SEQUENCES[container](convert(item, kinds[0] if kinds else Any) for item in items_of(value))


def items_of(value: Any) -> Any:
    """Return the items of a list."""
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise Unfit
    return list(value)


def as_mapping(value: Any, kinds: Any) -> Any:
    """Convert to a dict."""
    if not isinstance(value, collections.abc.Mapping):
        raise Unfit
    if not kinds:
        return value
    return {convert(key, kinds[0]): convert(one, kinds[1]) for key, one in value.items()}


def single(value: Any, kind: Any) -> Any:
    """Convert a value that is no container."""
    if kind is type(None) or (isinstance(value, bool) and kind in (int, float, str)):
        raise Unfit
    # A class since Python 3.11.
    if kind is Any or isinstance(value, kind):
        return value
    for base, make in MAKERS.items():
        if issubclass(kind, base):
            return make(value, kind)
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        hints = hints_of(kind)
        fields = {key: convert(one, hints.get(key, Any)) for key, one in value.items()}
        return kind(**fields)  # type: ignore[operator]
    return value


def as_bool(value: Any, _: Any) -> Any:
    """Convert a word to a bool."""
    word = value.strip().lower() if isinstance(value, str) else None
    if word not in ("true", "false"):
        raise Unfit
    return word == "true"


def as_int(value: Any, kind: Any) -> Any:
    """Convert text, or a float without a fraction, to an int."""
    if isinstance(value, str) or (isinstance(value, float) and value.is_integer()):
        return kind(value)
    raise Unfit


def as_number(value: Any, kind: Any) -> Any:
    """Convert a number or text to a number."""
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        return kind(str(value)) if kind is decimal.Decimal else kind(value)
    raise Unfit


def as_text(value: Any, kind: Any) -> Any:
    """Convert a number to text."""
    if isinstance(value, (int, float)):
        return kind(value)
    raise Unfit


def from_text(value: Any, kind: Any) -> Any:
    """Convert text to a path, a UUID and the like."""
    if not isinstance(value, str):
        raise Unfit
    return kind(value)


def as_bytes(value: Any, kind: Any) -> Any:
    """Convert text to bytes in UTF-8."""
    if not isinstance(value, str):
        raise Unfit
    return kind(value.encode())


def as_moment(value: Any, kind: Any) -> Any:
    """Convert a date or time in ISO 8601; a number is seconds since 1970."""
    if isinstance(value, str):
        text = value.strip()
        # Python before 3.11 does not accept Z.
        return kind.fromisoformat(text[:-1] + "+00:00" if text[-1:] in "Zz" and text else text)
    if isinstance(value, (int, float)) and kind is datetime.datetime:
        return kind.fromtimestamp(value, datetime.timezone.utc)  # noqa: UP017 - Python 3.8
    raise Unfit


def as_duration(value: Any, kind: Any) -> Any:
    """Convert seconds to a duration."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return kind(seconds=value)
    raise Unfit


def as_member(value: Any, kind: Any) -> Any:
    """Return a member of an enumeration by its value or its name."""
    for member in kind:
        if member.value == value and type(member.value) is type(value):
            return member
    if isinstance(value, str) and value in kind.__members__:
        return kind[value]
    raise Unfit


# By the class that is asked for, the narrower before the wider.
MAKERS: dict[type, Callable[[Any, Any], Any]] = {
    enum.Enum: as_member,
    bool: as_bool,
    int: as_int,
    float: as_number,
    decimal.Decimal: as_number,
    str: as_text,
    bytes: as_bytes,
    datetime.date: as_moment,
    datetime.time: as_moment,
    datetime.timedelta: as_duration,
    pathlib.PurePath: from_text,
    uuid.UUID: from_text,
}


def named(kind: Any) -> str:
    """Return a type about as its annotation was written."""
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return f"one of {', '.join(repr(member.value) for member in kind)}"
    if typing.get_origin(kind) is None and isinstance(kind, type):
        return kind.__name__
    return str(kind).replace("typing.", "")


def shown(value: Any) -> str:
    """Return a short preview of a value; for one that is no JSON, its type."""
    if not isinstance(value, (str, int, float, bool, list, tuple, dict, type(None))):
        return type(value).__name__
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
