"""What a reference may say: a name, keys that are written out, and a format that has an end. No more.

A call, an attribute or an operator is not in the grammar, so there is nothing to be evaluated.
"""

import ast
import re
from dataclasses import dataclass
from typing import Any

LONGEST = 200
_ESCAPED = r"""\\[\\'"nt]"""
_STRING = rf"""(?:"(?:[^"\\]|{_ESCAPED})*"|'(?:[^'\\]|{_ESCAPED})*')"""
_KEY = rf"(?:{_STRING}|[-+]?\d[\d_]*(?:\.\d+)?|True|False|None)"
_KEYS = rf"\[\s*{_KEY}(?:\s*,\s*{_KEY})*\s*,?\s*\]"
_REFERENCE = re.compile(rf"\s*(?P<name>[^\W\d]\w*)(?P<keys>(?:\s*{_KEYS})*)\s*(?::(?P<spec>[^{{}}]*))?")
_EACH_KEYS = re.compile(rf"{_KEYS}")
# Width and precision have two digits at most: ten digits of them would be gigabytes of text.
_NUMBER_FORMAT = re.compile(r"(?:.?[<>=^])?[-+ ]?z?#?0?\d{0,2}[,_]?(?:\.\d{1,2})?[bcdeEfFgGnosxX%]?")
_DATE_FORMAT = re.compile(r"(?=.*%)(?:%-?[A-Za-z%]|[^%]){1,40}")


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference as it is `written`, and what it says. A key is a literal, or a list of them for a tuple."""

    written: str
    name: str
    keys: tuple[Any, ...] = ()
    spec: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What stands between braces as a reference does, and is none; `why` is a clause."""

    written: str
    why: str


def read(written: str) -> Reference | Unreadable:
    """What `{{…}}` says. Nothing of it is evaluated, whatever it says."""
    found = _REFERENCE.fullmatch(written[2:-2])
    if found is None:
        return Unreadable(written, "only a name, keys that are written out, and a format can be filled in")
    spec = (found["spec"] or "").rstrip()
    if found["name"].startswith("_"):
        return Unreadable(written, "names that begin with _ are not filled in")
    if not (_NUMBER_FORMAT.fullmatch(spec) or _DATE_FORMAT.fullmatch(spec)):
        return Unreadable(written, f"{spec!r} is no format, or one for more than 99 characters")
    try:
        keys = tuple(_keys(one) for one in _EACH_KEYS.findall(found["keys"]))
    except (SyntaxError, ValueError):
        return Unreadable(written, "a key is not written as Python writes it")
    return Reference(written, found["name"], keys, spec)


def _keys(written: str) -> Any:
    """One key, or the list of several. The grammar has let only literals through."""
    keys = ast.literal_eval(written)
    is_tuple = len(keys) > 1 or written.rstrip("] \t").endswith(",")
    return keys if is_tuple else keys[0]
