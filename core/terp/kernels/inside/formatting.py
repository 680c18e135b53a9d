"""The text of a value in an answer, without running anybody's code.

A class can answer `format` with code of its own. So a value is written only when its class is exactly one
of Python, numpy or pandas, and when what a format can make of it has an end.
"""

from __future__ import annotations

import datetime
import decimal
import re
import sys
import types
from typing import Any

from .known import NAMESPACE, type_name

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


class Refused(Exception):
    """There is no text, for a reason that is told."""


def is_one(kind: Any, kinds: Any) -> bool:
    """Whether a class is one of some. `in` would ask a metaclass for its `__eq__`."""
    return any(kind is one for one in kinds)


def defined(library: str, *names: str) -> list[Any]:
    """The things that a library, if it was imported, has under these names."""
    module = sys.modules.get(library)
    if type(module) is not types.ModuleType:
        return []
    return [vars(module)[name] for name in names if name in vars(module)]


def is_of(kind: Any, library: str) -> bool:
    """Whether a class is the one that a module of the library has under its name."""
    module, name = NAMESPACE(kind).get("__module__"), type.__dict__["__name__"].__get__(kind)
    if type(module) is not str or module.split(".")[0] != library:
        return False
    return any(kind is one for one in defined(module, name))


def is_numpy(kind: Any) -> bool:
    """Whether a class is that of one of numpy's scalars."""
    return not FLAGS(kind) & HEAP_TYPE and is_one(kind, defined("numpy", *NUMPY))


def text_of(value: Any, spec: str) -> str:
    """What `format` makes of a value of a known class."""
    text = written(value, spec)
    if len(text) > LONGEST:
        raise Refused(f"it has {len(text):,} characters, and at most {LONGEST} are filled in")
    return text.encode("utf-8", "replace").decode()


def written(value: Any, spec: str) -> str:
    """The text, however long."""
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
    raise Refused(f"it is of type {type_name(value)}, and only numbers, text and dates are filled in")


def of_numpy(value: Any, spec: str) -> str:
    """The text of one of numpy's scalars, which formats as the Python value that it holds."""
    if is_one(type(value), defined("numpy", "datetime64", "timedelta64")):
        return without_format(value, spec)
    own = value.item()
    return str(value) if not spec and type(own) is not str else written(own, spec)


def of_date(value: Any, spec: str) -> str:
    """The text of a date or a time. Its zone is asked for it, so that is one of Python's."""
    if type(value) is not datetime.date and not is_one(type(value.tzinfo), ZONES):
        raise Refused("its time zone is of a class that is not asked")
    if spec and not PART_OF_DATE.search(spec):
        raise Refused(f"{spec!r} is no format of a date")
    return format(value, spec)


def without_format(value: Any, spec: str) -> str:
    """The text of what has one form alone."""
    if spec:
        raise Refused(f"{type_name(value)} has no formats")
    return str(value)


def check_size(number: Any) -> None:
    """Refuse a number of which a format would make megabytes."""
    if type(number) is int and number.bit_length() > MOST_BITS:
        raise Refused(f"it is a whole number of {number.bit_length():,} bits")
    if type(number) is decimal.Decimal:
        large = number.is_finite() and abs(number.adjusted()) > MOST_DIGITS
        if large or number.__sizeof__() > MOST_BYTES:
            raise Refused("it has too many digits")
