"""Rows and cells in which a table of pandas differs from an earlier copy of it.

Rows belong together by their labels. No code of the user's runs: labels and values of other classes than
Python's and pandas' own are compared by identity only.
"""

from __future__ import annotations

import sys
from typing import Any

from .fingerprints import label_text, number_text
from .known import printable, type_name
from .referring import is_of

MOST_LABELS, MOST_COLUMNS, LONGEST = 8, 12, 40
PLAIN = (str, int, float, bool)


def difference(before: Any, after: Any) -> list[list[str]]:
    """Return lines on rows and cells, each with its title; both tables are block managers."""
    old, new = before.axes[-1], after.axes[-1]
    if not (is_unique(old) and is_unique(new)):
        return [["rows", "not compared, as their labels are not unique"]]
    at = new.get_indexer(old)
    sides = (("−", old[at < 0]), ("+", new[old.get_indexer(new) < 0]))
    lines = [[f"{sign}{len(rows):,} rows", labels(rows)] for sign, rows in sides if len(rows)]
    return lines + cells(before, after, (at >= 0).nonzero()[0], at[at >= 0])


def is_unique(index: Any) -> bool:
    """Return True if rows can be found by their labels, which are numbers, dates or texts."""
    plain = index.inferred_type in ("integer", "floating", "string", "datetime64", "date", "boolean")
    return bool(plain and index.is_unique) or not len(index)


def labels(index: Any) -> str:
    """Return the first labels of rows."""
    more = ", …" if len(index) > MOST_LABELS else ""
    return ", ".join(label_text(one) for one in index[:MOST_LABELS]) + more


def cells(before: Any, after: Any, old: Any, new: Any) -> list[list[str]]:
    """Return a line for each column with other values in the rows `old`, which are `new` now."""
    numbers = {label_text(label): number for number, label in enumerate(after.axes[0])}
    rows, lines = after.axes[-1], []
    for number, label in enumerate(before.axes[0]):
        name = label_text(label)
        if name in numbers:
            one = values_of(before.iget_values(number))[old]
            other = values_of(after.iget_values(numbers[name]))[new]
            places = differing(one, other)
            some = [
                f"{label_text(rows[new[at]])}: {shown(one[at])} → {shown(other[at])}" for at in places[:3]
            ]
            if some:
                lines.append([f"{name}: {len(places):,} changed", ", ".join(some)])
    return lines[:MOST_COLUMNS]


def values_of(column: Any) -> Any:
    """Return the values of a column as an array; of a type that is not pandas' own, none is read."""
    numpy = sys.modules["numpy"]
    held = getattr(column, "_ndarray", column) if is_of(type(column), "pandas") else column
    if type(held) is numpy.ndarray and (held is column or held.dtype.kind in "mM"):
        return held
    return numpy.asarray(column, dtype=object) if held is not column else numpy.zeros(len(column), bool)


def differing(one: Any, other: Any) -> Any:
    """Return the places at which two columns differ. Nulls are equal, and so are 1 and 1.0."""
    if "O" in (one.dtype.kind, other.dtype.kind):
        return [at for at, cells in enumerate(zip(one, other)) if not is_same(*cells)]  # noqa: B905
    return ((one != other) & ~((one != one) & (other != other))).nonzero()[0]  # noqa: PLR0124


def is_same(one: Any, other: Any) -> bool:
    """Return True if two cells hold the same object, or equal plain values."""
    if one is other:
        return True
    plain = all(any(type(cell) is kind for kind in PLAIN) for cell in (one, other))
    return plain and (one == other or (one != one and other != other))  # noqa: PLR0124


def shown(cell: Any) -> str:
    """Return a cell as short text."""
    if type(cell) is str:
        return printable(repr(cell[:LONGEST]), LONGEST)
    return (number_text(cell) or type_name(cell)).partition("T00:00:00")[0]
