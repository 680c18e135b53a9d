"""Rows and cells in which a table of pandas differs from an earlier copy of it.

Rows belong together by their labels. No code of the user's runs: labels and values of other classes than
Python's and pandas' own are compared by identity only.
"""

from __future__ import annotations

import sys
from typing import Any

from .fingerprints import column_names, counted, is_array, label_text, number_text
from .known import printable, type_name
from .referring import is_numpy, is_of, is_one

MOST_LABELS, MOST_COLUMNS, LONGEST = 8, 12, 40
PLAIN = (str, int, float, bool)
# Labels that run no code of the user's when they are compared, as pandas calls them.
KINDS = ("integer", "floating", "string", "datetime64", "date", "boolean", "empty")


def difference(before: Any, after: Any) -> list[list[str]]:
    """Return lines on rows and cells, each with its title; both tables are block managers."""
    old, new = before.axes[-1], after.axes[-1]
    if not all(index.is_unique and index.inferred_type in KINDS for index in (old, new)):
        return [["rows", "not compared: their labels are not unique, or not plain"]]
    at = new.get_indexer(old)
    sides = (("−", old[at < 0]), ("+", new[old.get_indexer(new) < 0]))
    lines = []
    for sign, rows in sides:
        if len(rows):
            some = ", ".join([*map(label_text, rows[:MOST_LABELS]), "…"][: len(rows)])
            lines.append([sign + counted(len(rows), "row"), some])
    return lines + cells(before, after, (at >= 0).nonzero()[0], at[at >= 0])


def cells(before: Any, after: Any, old: Any, new: Any) -> list[list[str]]:
    """Return a line for each column with other values in the rows `old`, which are `new` now."""
    numbers = {name: number for number, name in enumerate(column_names(after.axes[0]))}
    rows, lines = after.axes[-1], []
    for number, name in enumerate(column_names(before.axes[0])):
        if name in numbers:
            one = values_of(before.iget_values(number), old)
            other = values_of(after.iget_values(numbers[name]), new)
            places = [at for at, pair in enumerate(zip(one, other)) if not is_same(*pair)]  # noqa: B905
            some = [
                f"{label_text(rows[new[at]])}: {shown(one[at])} → {shown(other[at])}" for at in places[:3]
            ]
            lines += [[f"{name}: {len(places):,} changed", ", ".join(some)]] if some else []
    return lines[:MOST_COLUMNS]


def values_of(column: Any, rows: Any) -> list[Any]:
    """Return values of a column; of a type that is not pandas' own, none is read."""
    if not (is_array(column) or is_of(type(column), "pandas")):
        return [None] * len(rows)
    dates = getattr(column, "_ndarray", column)
    # An array of objects would have whole numbers of dates.
    all_rows = dates if dates.dtype.kind in "mM" else sys.modules["numpy"].asarray(column, dtype=object)
    return list(all_rows[rows])


def is_same(one: Any, other: Any) -> bool:
    """Return True if two cells hold the same object, equal plain values, or nulls."""
    if one is other:
        return True
    plain = all(is_one(type(cell), PLAIN) or is_numpy(type(cell)) for cell in (one, other))
    return plain and bool(one == other or (one != one and other != other))  # noqa: PLR0124


def shown(cell: Any) -> str:
    """Return a cell as short text."""
    text = printable(repr(cell[:LONGEST]), LONGEST) if type(cell) is str else number_text(cell)
    return (text or type_name(cell)).partition("T00:00:00")[0]
