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
from zlib import crc32

from .known import COLUMNS, CONTAINERS, MRO, Kinds, attributes, columns_of, printable, type_name
from .namespace import FEW, MANY, MEGABYTE, SOME, column_mark, is_in_memory
from .referring import CannotFormat, defined, is_numpy, is_of, is_one, text_of

# Numbers, and objects, that are read before the clock is.
PIECE, FEW_OBJECTS = 1 << 18, 1 << 13
# Bytes of a table that is copied.
LARGEST_COPY = 8_000_000
# Length of a text that is shown, facts of one value, and names in one fact.
LONGEST_TEXT, MOST_FACTS, MOST_NAMED = 40, 6, 3
NOT_COUNTED, NOT_COMPARED = "nulls not counted", "columns not compared"


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
            return Fingerprint(counted(len(value), "item"), parts_of(islice(items, COLUMNS)))
        if kind is str:
            short = len(value) <= LONGEST_TEXT and value.isprintable()
            return Fingerprint(repr(value) if short else counted(len(value), "character"), {})
        shape = kinds.shape(value)
        return of_table(value, shape, deadline) if shape else Fingerprint(number_text(value) or "", {})
    except Exception:  # noqa: BLE001 - changed meanwhile by a thread, or a library in an unexpected state
        return None


def of_table(value: Any, shape: Any, deadline: float) -> Fingerprint:
    """Return the fingerprint of a table, an array, or another value that has a shape."""
    kind, wide, left_out = type(value), shape[1:], ""
    columns: dict[str, Any] = {}
    parts: dict[str, Part] = {}
    if is_one(kind, defined("numpy", "ndarray")):
        columns[""] = value
    elif wide and wide[0] > COLUMNS:
        left_out = NOT_COMPARED
    elif is_one(kind, defined("pandas", "DataFrame", "Series")):
        axis = manager_of(value).axes[0] if wide else [""]
        columns = dict(zip(column_names(axis), columns_of(value)))  # noqa: B905 - Python 3.8
    elif is_one(kind, defined("polars", "DataFrame", "Series")):
        series = value.get_columns() if wide else [value]
        parts = {one.name if wide else "": Part(str(one.dtype), one.null_count()) for one in series}
    elif is_one(kind, defined("pyarrow", "Table")):
        names = value.column_names
        parts = {one: Part(str(value.schema.field(one).type), value.column(one).null_count) for one in names}
    if columns:
        parts = parts_of_arrays(columns, deadline)
        if time.thread_time() >= deadline and any(one.nulls is None for one in parts.values()):
            left_out = NOT_COUNTED
    return Fingerprint(shape_text(shape), parts, shape[0], None, left_out)


def parts_of_arrays(columns: dict[str, Any], deadline: float) -> dict[str, Part]:
    """Return the parts of columns: the types of all, nulls and marks until the deadline."""
    known = {name: one for name, one in columns.items() if is_array(one) or is_of(type(one), "pandas")}
    nulls = {name: nulls_of(one, deadline) for name, one in known.items()}
    most = MANY if sum(one.nbytes for one in known.values()) <= MEGABYTE else FEW
    parts = {name: Part(type_name(one)) for name, one in columns.items()}
    for name, one in known.items():
        mark_of = arrow_mark if hasattr(one, "_pa_array") else column_mark
        mark = mark_of(one, most) if time.thread_time() < deadline else None
        parts[name] = Part(str(one.dtype), nulls[name], mark)
    return parts


def arrow_mark(column: Any, most: int) -> Any:
    """Return a mark of the values of a column of Arrow: equal ones may be in new memory."""
    arrow = column._pa_array
    if most < MANY:
        return [str(arrow[at]) for at in range(0, len(arrow), len(arrow) // SOME + 1)]
    taken = arrow.take(sys.modules["numpy"].arange(len(arrow)))
    return [crc32(part) for chunk in taken.chunks for part in chunk.buffers() if part]


def is_array(value: Any) -> bool:
    """Return True for an array of numpy itself."""
    return type(value) is sys.modules["numpy"].ndarray


def nulls_of(column: Any, deadline: float) -> Any:
    """Return the number of nulls in an array of numpy or pandas; None if they cannot be counted in time."""
    numpy = sys.modules["numpy"]
    if hasattr(column, "_pa_array"):
        return column._pa_array.null_count
    if hasattr(column, "_mask") or hasattr(column, "_codes"):
        return int(numpy.count_nonzero(column._mask if hasattr(column, "_mask") else column._codes < 0))
    array, count = getattr(column, "_ndarray", column), 0
    if not is_in_memory(array) or (array.ndim > 1 and not array.flags.forc):
        return None
    kind, flat = array.dtype.kind, array.reshape(-1, order="A")
    if kind not in "fcmMO":
        # Periods of pandas are whole numbers.
        return 0 if array is column else None
    find = nulls_among if kind == "O" else numpy.isnat if kind in "mM" else numpy.isnan
    piece = FEW_OBJECTS if kind == "O" else PIECE
    for start in range(0, len(flat), piece):
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
    plain = [item for item in own.items() if item[0] != "steps" and "_" not in (item[0][-1:], item[0][:1])]
    return Fingerprint("", parts_of(plain), None, hash(tuple(learned)) if learned else 0)


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
    own = value.item() if is_numpy(type(value)) and value.dtype.kind in "iuf" else value
    if type(own) is str:
        return None
    try:
        # Not a dict of classes: the metaclass of a user's class could have code for its hash.
        form = "," if type(own) is int else ",.10g" if type(own) is float else ""
        return printable(text_of(value, form), LONGEST_TEXT)
    except CannotFormat:
        return None


def shape_text(shape: Any) -> str:
    """Return a shape as text: `891×12`."""
    return counted(shape[0], "value") if len(shape) == 1 else "×".join(f"{length:,}" for length in shape)


def counted(number: int, unit: str) -> str:
    """Return a number with its unit: `3 items`."""
    return f"{number:,} {unit}{'s' * (number != 1)}"


def label_text(label: Any) -> str:
    """Return the label of a column as text, without code of its class."""
    shown = label if type(label) is str else number_text(label) or f"<{type_name(label)}>"
    return printable(shown, LONGEST_TEXT)


def column_names(axis: Any) -> list[str]:
    """Return the labels of columns as text; a repeated one has its place."""
    names: dict[str, None] = {}
    for label in map(label_text, axis):
        names[f"{label} (column {len(names) + 1})" if label in names else label] = None
    return list(names)


def facts_between(before: Any, after: Any) -> tuple[str, str, tuple[str, ...]]:
    """Return a value before and after as short text, "" if that is the same, and what else has changed.

    None is an unknown fingerprint.
    """
    if before is None or after is None:
        return "", "", ("fitted",) if after and after.fitted else ()
    was, now = (before.text, after.text) if before.text != after.text else ("", "")
    unit = now.partition(" ")[2].rstrip("s")
    if unit.isalpha() and now[0].isdigit() and was.partition(" ")[2].rstrip("s") == unit:
        was = was.partition(" ")[0]
    left_out = after.left_out or before.left_out
    # A column has no parts to compare with a table, nor has None.
    kinds = [("" in one.parts, one.rows is None) for one in (before, after)]
    comparable = left_out != NOT_COMPARED and kinds[0] == kinds[1]
    facts = list(all_facts(before, after)) if comparable else []
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
    changed = []
    for name in [name for name in after.parts if name in before.parts]:
        facts = list(part_facts(before, after, name))
        marks = [one.parts[name].mark for one in (before, after)]
        # "Age float64 → int64", "Age: 177 nulls dropped".
        yield from (f"{name}{' ' if '→' in fact else ': '}{fact}" if name else fact for fact in facts)
        # With other rows a mark says nothing.
        if not facts and before.rows == after.rows and None not in marks and marks[0] != marks[1]:
            changed.append(name)
    if changed:
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
        count = new.nulls - old.nulls
        yield counted(count, "more null") if count > 0 else f"{counted(-count, 'null')} {fewer}"


def listed(names: list[str]) -> str:
    """Return the first names, and the number of the others."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def manager_of(value: Any) -> Any:
    """Return the block manager of a table of pandas; None for another value."""
    is_table = is_one(type(value), defined("pandas", "DataFrame"))
    return object.__getattribute__(value, "_mgr") if is_table else None


def copy_of(value: Any) -> Any:
    """Return a copy of a small table of pandas, as its block manager; None for another value."""
    manager = manager_of(value)
    arrays = [block.values for block in manager.blocks] if manager else []
    known = manager and all(is_array(one) or is_of(type(one), "pandas") for one in arrays)
    return manager.copy(deep=True) if known and sum(one.nbytes for one in arrays) <= LARGEST_COPY else None
