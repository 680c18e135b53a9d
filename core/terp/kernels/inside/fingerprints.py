"""Fingerprints of data: what a run did to a table, an array, a model or a number, as a few short facts.

A fingerprint is read through the classes that Python and a few libraries define, as in `known`: no code of
the user's runs, and no value changes. What does not fit into the time limit is left out, and that is a fact.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from .known import COLUMNS, CONTAINERS, MRO, NAME, Kinds, attributes, columns_of, printable, type_name
from .namespace import FEW, MANY, MEGABYTE, array_mark, column_mark
from .referring import CannotFormat, defined, is_numpy, is_of, is_one, text_of

# Numbers, and objects, that are read before the clock is.
PIECE, FEW_OBJECTS = 1 << 18, 1 << 13
# Bytes of a table that is copied.
LARGEST_COPY = 8_000_000
# Length of a text that is shown, facts of one value, and names in one fact.
LONGEST_TEXT, MOST_FACTS, MOST_NAMED = 40, 6, 3
NOT_COUNTED, NOT_COMPARED = "nulls not counted", "columns not compared"
FORMATS = {int: ",", float: ",.10g"}


class Part(NamedTuple):
    """A column, an item of a dict or a parameter of a model: its type, its nulls, and a mark of its value.

    The mark of a number is the number as text.
    """

    kind: str
    nulls: Any = None
    mark: Any = None


class Fingerprint(NamedTuple):
    """The value or its shape as text, its parts by name, its rows, and a mark of what a model has learned."""

    text: str
    parts: dict[str, Part]
    rows: Any = None
    fitted: Any = None
    left_out: str = ""


def fingerprint(value: Any, kinds: Kinds, deadline: float) -> Any:
    """Return the fingerprint of a value; None for one that has none."""
    kind = type(value)
    try:
        if is_model(kind):
            return of_model(value)
        if is_one(kind, CONTAINERS):
            items = dict.items(value) if issubclass(kind, dict) else ()
            return Fingerprint(f"{len(value):,} items", parts_of(islice(items, COLUMNS)))
        return of_table(value, kinds.shape(value), deadline) or of_plain(value, kinds)
    except Exception:  # noqa: BLE001 - changed meanwhile by a thread, or a library in an unexpected state
        return None


def of_plain(value: Any, kinds: Kinds) -> Any:
    """Return the fingerprint of a number, a text, a date, or of another value with a shape."""
    text = number_text(value)
    if type(value) is str:
        short = len(value) <= LONGEST_TEXT and value.isprintable()
        text = repr(value) if short else f"{len(value):,} characters"
    return Fingerprint(text or shape_text(kinds.shape(value)), {})


def of_table(value: Any, shape: Any, deadline: float) -> Any:
    """Return the fingerprint of a table or an array; None for another value."""
    kind, wide = type(value), shape[1:]
    rows, left_out = shape[0] if shape else None, NOT_COMPARED if wide and wide[0] > COLUMNS else ""
    parts: dict[str, Part] = {}
    if is_one(kind, defined("numpy", "ndarray")):
        parts, left_out = parts_of_arrays({"": value}, deadline)
    elif is_one(kind, defined("pandas", "DataFrame", "Series")):
        axis = object.__getattribute__(value, "_mgr").axes[0] if wide else [""]
        if not left_out:
            columns = zip(map(label_text, axis), columns_of(value))  # noqa: B905 - Python 3.8
            parts, left_out = parts_of_arrays(dict(columns), deadline)
    elif is_one(kind, defined("polars", "DataFrame", "Series")):
        series = value.get_columns()[:COLUMNS] if wide else [value]
        parts = {one.name if wide else "": Part(str(one.dtype), one.null_count()) for one in series}
    elif is_one(kind, defined("pyarrow", "Table")):
        for name in value.column_names[:COLUMNS]:
            parts[name] = Part(str(value.schema.field(name).type), value.column(name).null_count)
    else:
        return None
    return Fingerprint(shape_text(shape), parts, rows, None, left_out)


def parts_of_arrays(columns: dict[str, Any], deadline: float) -> tuple[dict[str, Part], str]:
    """Return the parts of arrays, with nulls and marks as far as the time goes, and what is left out."""
    numpy = sys.modules["numpy"]
    known = {name: type(one) is numpy.ndarray or is_of(type(one), "pandas") for name, one in columns.items()}
    nulls = {name: nulls_of(one, deadline) if known[name] else None for name, one in columns.items()}
    left_out = NOT_COUNTED if time.thread_time() > deadline and None in nulls.values() else ""
    small, parts = sum(one.nbytes for name, one in columns.items() if known[name]) <= MEGABYTE, {}
    for name, column in columns.items():
        kind = str(column.dtype) if known[name] else type_name(column)
        mark = array_mark if type(column) is numpy.ndarray else column_mark
        in_time = known[name] and time.thread_time() < deadline
        parts[name] = Part(kind, nulls[name], mark(column, MANY if small else FEW) if in_time else None)
    return parts, left_out


def nulls_of(column: Any, deadline: float) -> Any:
    """Return the number of nulls in an array of numpy or pandas; None if they cannot be counted in time."""
    numpy = sys.modules["numpy"]
    if hasattr(column, "_pa_array"):
        return column._pa_array.null_count
    if hasattr(column, "_mask"):
        return int(numpy.count_nonzero(column._mask))
    if hasattr(column, "_codes"):
        return int(numpy.count_nonzero(column._codes < 0))
    array = getattr(column, "_ndarray", column)
    # Periods of pandas are whole numbers there.
    if type(array) is not numpy.ndarray or (array is not column and array.dtype.kind not in "mMO"):
        return None
    kind, flat, count = array.dtype.kind, array.reshape(-1), 0
    find = nulls_among if kind == "O" else numpy.isnat if kind in "mM" else numpy.isnan
    piece = FEW_OBJECTS if kind == "O" else PIECE
    for start in range(0, len(flat) if kind in "fcmMO" else 0, piece):
        if time.thread_time() > deadline:
            return None
        count += int(numpy.count_nonzero(find(flat[start : start + piece])))
    return count


def nulls_among(objects: Any) -> list[bool]:
    """Return which of an array's objects are null. None of them is compared with another."""
    na, nat = [*defined("pandas", "NA", "NaT"), None, None][:2]
    return [
        one is None or one is na or one is nat or (type(one) is float and one != one)  # noqa: PLR0124
        for one in objects.tolist()
    ]


def is_model(kind: Any) -> bool:
    """Return True for a class of models of scikit-learn, without asking its metaclass."""
    return any(one is base for one in MRO(kind) for base in defined("sklearn.base", "BaseEstimator"))


def of_model(model: Any) -> Any:
    """Return the fingerprint of a model: its parameters, and what it has learned, as in `coef_`."""
    own = {name: one for name, one in dict.items(attributes(model)) if type(name) is str}
    learned = [(name, id(one)) for name, one in own.items() if name[-1:] == "_" and name[:2] != "__"]
    steps = own.get("steps")
    if type(steps) is list and steps and type(steps[-1]) is tuple and is_model(type(steps[-1][-1])):
        # The last step of a pipeline is the last that is fitted.
        learned += [("steps", fitted)] if (fitted := of_model(steps[-1][-1]).fitted) else []
    parts = parts_of(
        item for item in own.items() if item[0] != "steps" and "_" not in (item[0][-1:], item[0][:1])
    )
    return Fingerprint("", parts, None, hash(tuple(learned)) if learned else 0)


def parts_of(items: Any) -> dict[str, Part]:
    """Return the parts of items by name: numbers as text, other values by their identity."""
    parts = {}
    for name, value in items:
        if type(name) is str:
            mark = number_text(value) or id(value)
            parts[printable(name, LONGEST_TEXT)] = Part(type_name(value), None, mark)
    return parts


def number_text(value: Any) -> Any:
    """Return a number or a date as short text; None for anything else."""
    if type(value) is str:
        return None
    own = value.item() if is_numpy(type(value)) else value
    for form in (FORMATS.get(type(own), ""), ""):
        try:
            return printable(text_of(value, form), LONGEST_TEXT)
        except CannotFormat:
            continue
    return None


def shape_text(shape: Any) -> str:
    """Return a shape as text: `891×12`."""
    return "×".join(f"{length:,}" for length in shape) + (" values" if len(shape) == 1 else "")


def label_text(label: Any) -> str:
    """Return the label of a column as text, without code of its class."""
    shown = label if type(label) is str else number_text(label) or f"<{type_name(label)}>"
    return printable(shown, LONGEST_TEXT)


def facts_between(before: Fingerprint, after: Fingerprint) -> tuple[str, str, tuple[str, ...]]:
    """Return a value before and after as short text, "" if that is the same, and what else has changed."""
    was, now = (before.text, after.text) if before.text != after.text else ("", "")
    unit = now.partition(" ")[2]
    if unit and was.endswith(f" {unit}"):
        was = was.partition(" ")[0]
    left_out = after.left_out or before.left_out
    facts = [] if left_out == NOT_COMPARED else list(all_facts(before, after))
    if len(facts) > MOST_FACTS:
        facts[MOST_FACTS:] = [f"and {len(facts) - MOST_FACTS:,} more changes"]
    return was, now, (*facts, *([left_out] if left_out else []))


def all_facts(before: Fingerprint, after: Fingerprint) -> Iterator[str]:
    """Yield the facts: of a model, of parts that came or went, and of each part."""
    if before.fitted != after.fitted and after.fitted is not None:
        yield "not fitted any more" if not after.fitted else "fitted again" if before.fitted else "fitted"
    for sign, one, other in (("+", after, before), ("−", before, after)):
        if names := [name for name in one.parts if name and name not in other.parts]:
            yield sign + listed(names)
    common = [name for name in after.parts if name in before.parts]
    for name in common:
        for fact in part_facts(before, after, name):
            # "Age float64 → int64", "Age: 177 nulls dropped".
            yield f"{name}{' ' if '→' in fact else ': '}{fact}" if name else fact
    if changed := [name for name in common if has_other_values(before, after, name)]:
        yield f"{listed(changed)} changed" if changed != [""] else "values changed"


def part_facts(before: Fingerprint, after: Fingerprint, name: str) -> Iterator[str]:
    """Yield what has changed in the number, the type or the nulls of one part."""
    old, new = before.parts[name], after.parts[name]
    if type(old.mark) is type(new.mark) is str:
        if old.mark != new.mark:
            yield f"{old.mark} → {new.mark}"
        return
    if old.kind != new.kind:
        yield f"{old.kind} → {new.kind}"
    if None not in (old.nulls, new.nulls) and old.nulls != new.nulls:
        fewer = "dropped" if None not in (before.rows, after.rows) and after.rows < before.rows else "filled"
        count = abs(new.nulls - old.nulls)
        yield f"{count:,} null{'s' * (count > 1)} {'more' if new.nulls > old.nulls else fewer}"


def has_other_values(before: Fingerprint, after: Fingerprint, name: str) -> bool:
    """Return True if only the values of a part differ. With other rows its mark says nothing."""
    old, new = before.parts[name], after.parts[name]
    if None in (old.mark, new.mark) or str in (type(old.mark), type(new.mark)):
        return False
    return before.rows == after.rows and old[:2] == new[:2] and old.mark != new.mark


def listed(names: list[str]) -> str:
    """Return the first names, and the number of the others."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def copy_of(value: Any) -> Any:
    """Return a copy of a small table of pandas, as its block manager; None for another value."""
    if not is_one(type(value), defined("pandas", "DataFrame")):
        return None
    manager = object.__getattribute__(value, "_mgr")
    arrays = [block.values for block in manager.blocks]
    known = all(NAME(type(one)) == "ndarray" or is_of(type(one), "pandas") for one in arrays)
    return manager.copy(deep=True) if known and sum(one.nbytes for one in arrays) <= LARGEST_COPY else None
