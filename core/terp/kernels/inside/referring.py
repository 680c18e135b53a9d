"""What an answer refers to: a name of the person's, and the keys that lead on from its value.

No code of the person's runs: no class of theirs is asked for an item, and no object of theirs is compared
with a key.
"""

from __future__ import annotations

import collections
import json
from typing import Any, NamedTuple

from .formatting import Refused, defined, is_numpy, is_of, is_one, text_of
from .known import printable, type_name
from .namespace import is_theirs

# Keys of a dict, or labels of a table, that are looked through.
MOST_KEYS = 200_000
KEYS = (str, int, float, bool, type(None))
DICTS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
SEQUENCES = (list, tuple, str)


class Column(NamedTuple):
    """The values of a column or a Series, and the labels of its rows."""

    values: Any
    index: Any


def told_value(shell: Any, asked: str) -> dict[str, str]:
    """The text of a value, or why there is none; `asked` is a name, its keys and a format, in JSON."""
    try:
        name, keys, spec = json.loads(asked)
        value = named(shell, name)
        for key in keys:
            value = item(value, key)
        return {"text": text_of(value, spec)}
    except Refused as refused:
        return {"why": printable(str(refused), 200)}
    except Exception as error:  # noqa: BLE001 - a library in a state, or of a version, that nobody foresaw
        return {"why": printable(f"{type_name(error)}: {error}", 200)}


def named(shell: Any, name: str) -> Any:
    """The value of a name."""
    for known, value in list(dict.items(shell.user_ns)):
        # A string of a class of theirs could have its own idea of what is equal.
        if type(known) is str and known == name and is_theirs(name, value, shell.user_ns_hidden):
            return value
    raise Refused("there is no variable of that name")


def item(value: Any, key: Any) -> Any:
    """What a value has under a key; the key is one of `KEYS`, or a list of them for a tuple."""
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
    raise Refused(f"nothing is looked up in a {type_name(value)}")


def of_sequence(value: Any, key: Any) -> Any:
    """The item at a position."""
    if type(key) is not int:
        raise Refused(f"a {type_name(value)} has whole numbers for keys")
    if not -len(value) <= key < len(value):
        raise Refused(f"it has {len(value):,} items, and none at {key}")
    return value[key]


def of_dict(value: Any, key: Any) -> Any:
    """The value of a key. Each is looked at: to look one up could ask others whether they are equal."""
    if dict.__len__(value) > MOST_KEYS:
        raise Refused(f"it has more than {MOST_KEYS:,} keys")
    for known, found in dict.items(value):
        if same(known, key):
            return found
    raise Refused(f"there is no key {shown(key)}")


def same(known: Any, key: Any) -> bool:
    """Whether a key that is there is the one that is asked for."""
    if type(known) is tuple and type(key) is list:
        return len(known) == len(key) and all(same(one, other) for one, other in zip(known, key))  # noqa: B905 - not in Python 3.8
    if is_numpy(type(known)):
        known = known.item()
    return is_one(type(known), KEYS) and type(key) is not list and known == key


def of_array(value: Any, key: Any) -> Any:
    """An item, or a part with fewer dimensions."""
    keys = tuple(key) if type(key) is list else key
    if not all(type(one) is int for one in (keys if type(keys) is tuple else [keys])):
        raise Refused("an array has whole numbers for keys")
    return value[keys]


def of_column(column: Column, key: Any) -> Any:
    """The value in the row with a label."""
    values = column.values
    if not (is_one(type(values), defined("numpy", "ndarray")) or is_of(type(values), "pandas")):
        raise Refused(f"its values are a {type_name(values)}")
    return values[place(column.index, key)]


def place(index: Any, key: Any) -> int:
    """Where a label stands. pandas looks it up, once all labels are known to be harmless."""
    for level in index.levels if is_one(type(index), defined("pandas", "MultiIndex")) else [index]:
        check_labels(level)
    try:
        found = index.get_loc(tuple(key) if type(key) is list else key)
    except KeyError:
        raise Refused(f"there is no label {shown(key)}") from None
    if type(found) is not int and not is_numpy(type(found)):
        raise Refused(f"more than one is labelled {shown(key)}")
    return int(found)


def check_labels(level: Any) -> None:
    """Refuse labels that are objects of a class that could have its own `__hash__` or `__eq__`."""
    if not is_of(type(level), "pandas"):
        raise Refused(f"its labels are a {type_name(level)}")
    values = getattr(level, "categories", level)._values
    held = getattr(values, "_ndarray", values)
    if is_one(type(held), defined("numpy", "ndarray")):
        if not held.dtype.hasobject:
            return
        if held.size <= MOST_KEYS and all(is_label(one) for one in held.tolist()):
            return
    elif is_of(type(held), "pandas"):
        return
    raise Refused("its labels are not looked through")


def is_label(label: Any) -> bool:
    """Whether a label is harmless to compare."""
    kind = type(label)
    return is_one(kind, KEYS) or is_numpy(kind) or any(label is one for one in defined("pandas", "NA", "NaT"))


def shown(key: Any) -> str:
    """A key as a person would write it."""
    return repr(tuple(key) if type(key) is list else key)
