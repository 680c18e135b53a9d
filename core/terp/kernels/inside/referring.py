"""Texts of values that an answer refers to by a name of the user's, and keys into its value.

No code of the user's runs: no item is read through a class of theirs, and no object of theirs is compared
with a key.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import json
import re
import sys
import types
from typing import Any, NamedTuple

from .known import NAMESPACE, StoredValue, printable, type_name
from .namespace import is_theirs

try:
    from zoneinfo import ZoneInfo
except ImportError:  # Python 3.8
    ZoneInfo = datetime.timezone  # type: ignore[misc, assignment]

LONGEST, MOST_BITS, MOST_BYTES, MOST_DIGITS = 500, 1_600, 1_000, 500
DATES = (datetime.date, datetime.datetime, datetime.time)
NUMBERS = (bool, int, float, complex, decimal.Decimal)
ZONES = (type(None), datetime.timezone, ZoneInfo)
NUMPY = (
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intc", "uintc",
    "longlong", "ulonglong", "float16", "float32", "float64", "complex64", "complex128", "str_",
    "datetime64", "timedelta64",
)  # fmt: skip
PART_OF_DATE = re.compile("%-?[A-Za-z]")
FLAGS = type.__dict__["__flags__"].__get__
# A class that was made by a `class` statement, not in C.
HEAP_TYPE = 1 << 9


class CannotFormat(Exception):
    """A value cannot be formatted; the message is the reason."""


def is_one(kind: Any, kinds: Any) -> bool:
    """Return True if a class is one of `kinds`. `in` would call a metaclass's `__eq__`."""
    return any(kind is one for one in kinds)


def defined(library: str, *names: str) -> list[Any]:
    """Return the attributes of an imported library under these names; [] if it is not imported."""
    module = sys.modules.get(library)
    if type(module) is not types.ModuleType:
        return []
    return [vars(module)[name] for name in names if name in vars(module)]


def is_of(kind: Any, library: str) -> bool:
    """Return True if a class is defined by a module of the library under its own name."""
    module, name = NAMESPACE(kind).get("__module__"), type.__dict__["__name__"].__get__(kind)
    if type(module) is not str or module.split(".")[0] != library:
        return False
    return any(kind is one for one in defined(module, name))


def is_numpy(kind: Any) -> bool:
    """Return True if a class is one of numpy's scalars."""
    return not FLAGS(kind) & HEAP_TYPE and is_one(kind, defined("numpy", *NUMPY))


def text_of(value: Any, spec: str) -> str:
    """Return `format(value, spec)` for a value of a known class."""
    text = written(value, spec)
    if len(text) > LONGEST:
        raise CannotFormat(f"it has {len(text):,} characters, and at most {LONGEST} are filled in")
    return text.encode("utf-8", "replace").decode()


def written(value: Any, spec: str) -> str:
    """Return the text, of any length."""
    kind = type(value)
    if is_numpy(kind):
        return of_numpy(value, spec)
    if kind is str:
        # A format without a precision would copy all of it.
        return format(value, spec) if len(value) <= LONGEST or "." in spec else value
    if is_one(kind, NUMBERS):
        check_size(value)
        return format(value, spec)
    if is_one(kind, DATES) or is_one(kind, defined("pandas", "Timestamp")):
        return of_date(value, spec)
    nothing = any(value is one for one in (None, *defined("pandas", "NaT", "NA")))
    if nothing or is_one(kind, (datetime.timedelta, *defined("pandas", "Timedelta"))):
        return without_format(value, spec)
    raise CannotFormat(f"it is of type {type_name(value)}, and only numbers, text and dates are filled in")


def of_numpy(value: Any, spec: str) -> str:
    """Return the text of a scalar of numpy, which formats as its Python value."""
    if is_one(type(value), defined("numpy", "datetime64", "timedelta64")):
        return without_format(value, spec)
    own = value.item()
    return str(value) if not spec and type(own) is not str else written(own, spec)


def of_date(value: Any, spec: str) -> str:
    """Return the text of a date or time. Formatting calls its time zone, which must be one of Python's."""
    if type(value) is not datetime.date and not is_one(type(value.tzinfo), ZONES):
        raise CannotFormat("its time zone is of a class that is not asked")
    if spec and not PART_OF_DATE.search(spec):
        raise CannotFormat(f"{spec!r} is not a valid format of a date")
    return format(value, spec)


def without_format(value: Any, spec: str) -> str:
    """Return the text of a value that has only one format."""
    if spec:
        raise CannotFormat(f"{type_name(value)} has no formats")
    return str(value)


def check_size(number: Any) -> None:
    """Refuse a number whose format would take megabytes."""
    if type(number) is int and number.bit_length() > MOST_BITS:
        raise CannotFormat(f"it is a whole number of {number.bit_length():,} bits")
    if type(number) is decimal.Decimal:
        large = number.is_finite() and abs(number.adjusted()) > MOST_DIGITS
        if large or number.__sizeof__() > MOST_BYTES:
            raise CannotFormat("it has too many digits")


# Limit for the keys of a dict, or labels of a table, that are searched.
MOST_KEYS = 200_000
KEYS = (str, int, float, bool, type(None))
DICTS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
SEQUENCES = (list, tuple, str)


class Column(NamedTuple):
    """The values of a column or a Series, and the labels of its rows."""

    values: Any
    index: Any


def value_text(shell: Any, asked: str) -> dict[str, str]:
    """Return the text of a value or the reason for none; `asked` is name, keys and format in JSON."""
    try:
        name, keys, spec = json.loads(asked)
        value = named(shell, name)
        for key in keys:
            value = item(value, key)
        return {"text": text_of(value, spec)}
    except CannotFormat as refused:
        return {"why": printable(str(refused), 200)}
    except Exception as error:  # noqa: BLE001 - a library in a state, or of an unexpected version
        return {"why": printable(f"{type_name(error)}: {error}", 200)}


def named(shell: Any, name: str) -> Any:
    """Return the value of a name."""
    for known, value in list(dict.items(shell.user_ns)):
        # A subclass of str could define its own `__eq__`.
        if type(known) is str and known == name and is_theirs(name, value, shell.user_ns_hidden):
            return value.load(value) if type(value) is StoredValue else value
    raise CannotFormat("there is no variable of that name")


def item(value: Any, key: Any) -> Any:
    """Return the item of a value under a key; a list of keys stands for a tuple."""
    kind = type(value)
    if is_one(kind, SEQUENCES):
        return of_sequence(value, key)
    if is_one(kind, DICTS):
        return of_dict(value, key)
    if is_one(kind, defined("numpy", "ndarray")):
        return of_array(value, key)
    if is_one(kind, defined("pandas", "DataFrame")):
        at = place(value.columns, key)
        return Column(value._mgr.iget_values(at), value.index)
    if is_one(kind, defined("pandas", "Series")):
        value = Column(value._values, value.index)
    if type(value) is Column:
        return of_column(value, key)
    raise CannotFormat(f"nothing is looked up in a {type_name(value)}")


def of_sequence(value: Any, key: Any) -> Any:
    """Return the item at a position."""
    if type(key) is not int:
        raise CannotFormat(f"a {type_name(value)} has whole numbers for keys")
    if not -len(value) <= key < len(value):
        raise CannotFormat(f"it has {len(value):,} items, and none at {key}")
    return value[key]


def of_dict(value: Any, key: Any) -> Any:
    """Return the value of a key by a linear search: a lookup could call `__eq__` of other keys."""
    if dict.__len__(value) > MOST_KEYS:
        raise CannotFormat(f"it has more than {MOST_KEYS:,} keys")
    for known, found in dict.items(value):
        if same(known, key):
            return found
    raise CannotFormat(f"there is no key {shown(key)}")


def same(known: Any, key: Any) -> bool:
    """Return True if an existing key is the wanted one."""
    if type(known) is tuple and type(key) is list:
        return len(known) == len(key) and all(same(one, other) for one, other in zip(known, key))  # noqa: B905 - not in Python 3.8
    if is_numpy(type(known)):
        known = known.item()
    return is_one(type(known), KEYS) and type(key) is not list and known == key


def of_array(value: Any, key: Any) -> Any:
    """Return an item of an array, or a part with fewer dimensions."""
    keys = tuple(key) if type(key) is list else key
    if not all(type(one) is int for one in (keys if type(keys) is tuple else [keys])):
        raise CannotFormat("an array has whole numbers for keys")
    return value[keys]


def of_column(column: Column, key: Any) -> Any:
    """Return the value in the row with a label."""
    values = column.values
    if not (is_one(type(values), defined("numpy", "ndarray")) or is_of(type(values), "pandas")):
        raise CannotFormat(f"its values are a {type_name(values)}")
    return values[place(column.index, key)]


def place(index: Any, key: Any) -> int:
    """Return the position of a label, looked up by pandas after all labels were checked."""
    for level in index.levels if is_one(type(index), defined("pandas", "MultiIndex")) else [index]:
        check_labels(level)
    try:
        found = index.get_loc(tuple(key) if type(key) is list else key)
    except KeyError:
        raise CannotFormat(f"there is no label {shown(key)}") from None
    if type(found) is not int and not is_numpy(type(found)):
        raise CannotFormat(f"more than one is labelled {shown(key)}")
    return int(found)


def check_labels(level: Any) -> None:
    """Refuse labels that are objects of a class that could have its own `__hash__` or `__eq__`."""
    if not is_of(type(level), "pandas"):
        raise CannotFormat(f"its labels are a {type_name(level)}")
    values = getattr(level, "categories", level)._values
    held = getattr(values, "_ndarray", values)
    if is_one(type(held), defined("numpy", "ndarray")):
        if not held.dtype.hasobject:
            return
        if held.size <= MOST_KEYS and all(is_label(one) for one in held.tolist()):
            return
    elif is_of(type(held), "pandas"):
        return
    raise CannotFormat("its labels are not looked through")


def is_label(label: Any) -> bool:
    """Return True if comparing a label runs no code of the user's."""
    kind = type(label)
    return is_one(kind, KEYS) or is_numpy(kind) or any(label is one for one in defined("pandas", "NA", "NaT"))


def shown(key: Any) -> str:
    """Return a key as Python source."""
    return repr(tuple(key) if type(key) is list else key)
