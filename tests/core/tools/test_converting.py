"""Arguments as JSON has them, made what annotations say."""

import datetime
import decimal
import enum
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, Union

import pytest

from terp.kernels.inside.converting import converted, hints_of, written_hints


class Unit(enum.Enum):
    CELSIUS = "c"
    KELVIN = 1


@dataclass
class Point:
    x: int
    at: datetime.date


def made(value: Any, kind: Any) -> Any:
    return converted("f", {"x": value}, {"x": kind})["x"]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ([1, 10], tuple[int, int], (1, 10)),
        ([1, 2, 3], tuple[int, ...], (1, 2, 3)),
        ([["1", 2.0]], list[list[int]], [[1, 2]]),
        ([1, 1], set[int], {1}),
        (("a",), Sequence[str], ["a"]),
        ({"a": "1"}, dict[str, int], {"a": 1}),
        ({"a": [1]}, Mapping[str, tuple[int]], {"a": (1,)}),
        ("2", int, 2),
        (2.0, int, 2),
        (2, float, 2.0),
        ("2.5", float, 2.5),
        (7, str, "7"),
        ("true", bool, True),
        ("x", Optional[str], "x"),  # noqa: UP045
        (None, int, None),
        ("3", int | None, 3),
        ("a", Union[int, str], "a"),  # noqa: UP007
        ("3", int | str, "3"),
        ("2", Literal[1, 2], 2),
        ("b", Literal["a", "b"], "b"),
        ("c", Unit, Unit.CELSIUS),
        ("KELVIN", Unit, Unit.KELVIN),
        ("2024-02-03", datetime.date, datetime.date(2024, 2, 3)),
        ("2024-02-03T04:05Z", datetime.datetime, datetime.datetime(2024, 2, 3, 4, 5, tzinfo=datetime.UTC)),
        ("04:05", datetime.time, datetime.time(4, 5)),
        (90, datetime.timedelta, datetime.timedelta(seconds=90)),
        ("/tmp/x", Path, Path("/tmp/x")),
        ("1.10", decimal.Decimal, decimal.Decimal("1.10")),
        ("12345678123456781234567812345678", uuid.UUID, uuid.UUID("12345678123456781234567812345678")),
        ("é", bytes, "é".encode()),
        ("5", Annotated[int, "a number", True], 5),
        ({"x": "1", "at": "2024-02-03"}, Point, Point(1, datetime.date(2024, 2, 3))),
        ([1], Any, [1]),
        (["not mine"], "unknown", ["not mine"]),
    ],
)  # fmt: skip
def test_what_json_brings_becomes_the_annotated_type(value: Any, kind: Any, expected: Any) -> None:
    result = made(value, kind)
    assert (type(result), result) == (type(expected), expected)


@pytest.mark.parametrize(
    ("value", "kind", "told"),
    [
        ([1], tuple[int, int], "tuple[int, int], not [1]."),
        ("12", list[int], "list[int], not '12'."),
        ("x", int, "int, not 'x'."),
        (True, int, "int, not True."),
        (1.5, int, "int, not 1.5."),
        ("maybe", bool, "bool, not 'maybe'."),
        ("z", Literal["a", "b"], "Literal['a', 'b'], not 'z'."),
        ("z", Unit, "one of 'c', 1, not 'z'."),
        ("soon", datetime.date, "date, not 'soon'."),
        ([1], dict, "dict, not [1]."),
        ([], Path, "Path, not []."),
        (object(), int, "int, not object."),
    ],
)
def test_what_cannot_be_is_named_with_its_type(value: Any, kind: Any, told: str) -> None:
    with pytest.raises(TypeError) as wrong:
        made(value, kind)
    assert str(wrong.value) == f"Tool `f`: `x` must be {told}"


def test_what_is_of_the_type_already_is_the_same_object() -> None:
    values = {"a": Point(1, datetime.date.max), "b": [object()]}
    result = converted("f", values, {"a": Point, "b": list})
    assert all(result[name] is values[name] for name in values)


class Column:
    """Compares as columns and tables do: item by item, which is no truth value."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise ValueError("The truth value of a column is ambiguous.")


@pytest.mark.parametrize("kind", [Column | None, str | Column, list[int] | Column])
def test_one_of_several_types_may_be_one_that_cannot_be_compared(kind: Any) -> None:
    column = Column()
    assert made(column, kind) is column


def test_annotations_that_cannot_be_told_convert_nothing() -> None:
    def f(x: "Missing") -> None:  # type: ignore[name-defined]  # noqa: F821
        """Its type is nowhere."""

    assert hints_of(f) == {}


def test_declared_types_are_those_of_typing() -> None:
    written = [{"name": "a", "type": "Optional[list[int]]"}, {"name": "b", "type": "no type"}]
    assert written_hints(written) == {"a": list[int] | None, "b": Any}
