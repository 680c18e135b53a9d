"""Values that an answer refers to: what they read, and that nobody's code runs for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from terp.events.kernel import Kernel, WrittenValue
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.running import ran

VALUES = """
import collections, datetime as dt, decimal
import numpy as np, pandas as pd
total, n, yes, nothing, text = 1234.5, 3, True, None, "a\\nb"
d = {"a": {"b": [1, (2, 3)]}, ("a", 1): 3, 1.5: "half", None: "none", np.int64(7): "seven"}
counted, empty = collections.Counter("aab"), collections.defaultdict(lambda: made.append(1))
made = []
df = pd.DataFrame(
    {"p": [1.5, 2, 3], "q": ["a", "b", "c"], "t": pd.to_datetime(["2024-01-02"] * 3), 5: [1, 2, 3]},
    index=list("xyz"),
)
s, wide = pd.Series([10, 20]), df.set_index(["q", "p"])
twice, kind = pd.Series([1, 2], index=["a", "a"]), pd.Series(["u", "v"], dtype="category")
a, f32, b8 = np.eye(2), np.float32(0.1), np.bool_(True)
day, moment = dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3, 4)
stamp, took, gone = pd.Timestamp("2024-05-06 07:08", tz="UTC"), pd.Timedelta("1h"), pd.NaT
money, long = decimal.Decimal("1.50"), "x" * 1000
"""

HOSTILE = """
ran = []
def tell(*_): ran.append(1)
def over(base, **methods):
    answers = {name: (lambda *a, v=value: (tell(), v)[1]) for name, value in methods.items()}
    return type("Over", (base,), answers)
item = over(dict, __getitem__=1, __missing__=1, __contains__=True, __len__=1, __iter__=iter([]))(a=1)
items = over(list, __getitem__=1, __len__=9)([1])
number = over(float, __format__="evil", __str__="evil", __float__=1.0)(1)
whole = over(int, __format__="evil", __str__="evil", __index__=1)(1)
word = over(str, __format__="evil", __str__="evil")("x")
moment = over(dt.datetime, __format__="evil", __str__="evil")(2024, 1, 2)
class Zone(dt.tzinfo):
    def utcoffset(self, _): tell(); return dt.timedelta(0)
    tzname = dst = utcoffset
zoned = dt.datetime(2024, 1, 2, tzinfo=Zone())
class Key(str):
    def __eq__(self, other): tell(); return True
    def __hash__(self): tell(); return str.__hash__(self)
keyed, labelled = {Key("k"): 1}, pd.Series([1], index=pd.Index([Key("k")], dtype=object))
headed = pd.DataFrame([[1]], columns=pd.Index([Key("k")], dtype=object))
named = pd.DataFrame({"k": [number]}, dtype=object)
class Meta(type):
    def __getattribute__(cls, name): tell(); return type.__getattribute__(cls, name)
    def __eq__(cls, other): tell(); return True
    def __hash__(cls): tell(); return 1
class Odd(metaclass=Meta):
    def __getattribute__(self, name): tell(); return object.__getattribute__(self, name)
    def __getitem__(self, key): tell(); return 1
    def __format__(self, spec): tell(); return "evil"
odd = Odd()
scalar = over(np.float64, __format__="evil", item=1.0)(1)
array = np.eye(2).view(over(np.ndarray, __getitem__=1))
table = over(pd.DataFrame, __getitem__=1)({"k": [1]})
big, many = 10**6000, dict.fromkeys(range(300_000))
endless, exact = decimal.Decimal("1e999999999"), decimal.Decimal("1" * 5000)
ran.clear()
"""


@pytest.fixture
async def filled(kernel: Kernel) -> Kernel:
    await ran(kernel, "%reset -f")
    assert (await ran(kernel, VALUES)).error == ""
    return kernel


async def test_values_read_as_format_writes_them(filled: Kernel) -> None:
    asked: Sequence[tuple[str, list[Any], str, str]] = [
        ("total", [], ",.2f", "1,234.50"),
        ("n", [], "05", "00003"),
        ("yes", [], "", "True"),
        ("nothing", [], "", "None"),
        ("text", [0], "", "a"),
        ("text", [], "", "a\nb"),
        ("d", ["a", "b", 1, -1], "", "3"),
        ("d", [["a", 1]], "", "3"),
        ("d", [1.5], ">6", "  half"),
        ("d", [None], "", "none"),
        ("d", [7], "", "seven"),
        ("counted", ["a"], "", "2"),
        ("df", ["p", "y"], ".1f", "2.0"),
        ("df", ["q", "z"], "", "c"),
        ("df", ["t", "x"], "%d.%m.%y", "02.01.24"),
        ("df", [5, "z"], "", "3"),
        ("s", [1], "", "20"),
        ("wide", ["t", ["a", 1.5]], "", "2024-01-02 00:00:00"),
        ("kind", [1], "", "v"),
        ("a", [[1, 1]], ".1f", "1.0"),
        ("a", [1, 0], "", "0.0"),
        ("f32", [], "", "0.1"),
        ("f32", [], ".3f", "0.100"),
        ("b8", [], "", "True"),
        ("day", [], "%d %B", "02 January"),
        ("moment", [], "", "2024-01-02 03:04:00"),
        ("stamp", [], "%H:%M", "07:08"),
        ("took", [], "", "0 days 01:00:00"),
        ("gone", [], "", "NaT"),
        ("money", [], ".3f", "1.500"),
        ("long", [], ".3", "xxx"),
    ]
    told = [await filled.value(name, keys, spec) for name, keys, spec, _ in asked]
    assert told == [WrittenValue(text) for *_, text in asked]


async def test_what_cannot_be_read_is_told_in_words(filled: Kernel) -> None:
    number = "ValueError: Unknown format code 'd' for object of type 'float'"
    asked: Sequence[tuple[str, list[Any], str, str]] = [
        ("totl", [], "", "there is no variable of that name"),
        ("pd", [], "", "there is no variable of that name"),
        ("In", [1], "", "there is no variable of that name"),
        ("__builtins__", [], "", "there is no variable of that name"),
        ("print", [], "", "there is no variable of that name"),
        ("total", [], "d", number),
        ("total", [0], "", "nothing is looked up in a float"),
        ("d", ["b"], "", "there is no key 'b'"),
        ("d", ["a"], "", "it is of type dict, and only numbers, text and dates are filled in"),
        ("df", [], "", "it is of type DataFrame, and only numbers, text and dates are filled in"),
        ("df", ["r"], "", "there is no label 'r'"),
        ("s", [-1], "", "there is no label -1"),
        ("twice", ["a"], "", "more than one is labelled 'a'"),
        ("a", [0], "", "it is of type ndarray, and only numbers, text and dates are filled in"),
        ("a", [2], "", "IndexError: index 2 is out of bounds for axis 0 with size 2"),
        ("a", ["x"], "", "an array has whole numbers for keys"),
        ("d", ["a", "b", 2], "", "it has 2 items, and none at 2"),
        ("day", [], ".2f", "'.2f' is not a valid format of a date"),
        ("long", [], "", "it has 1,000 characters, and at most 500 are filled in"),
        ("empty", ["a"], "", "there is no key 'a'"),
    ]
    told = [await filled.value(name, keys, spec) for name, keys, spec, _ in asked]
    assert told == [WrittenValue(why=why) for *_, why in asked]
    assert (await ran(filled, "made")).results == ["[]"]


async def test_no_code_of_theirs_runs_and_nothing_grows_without_end(filled: Kernel) -> None:
    assert (await ran(filled, HOSTILE)).error == ""
    asked: Sequence[tuple[str, list[Any]]] = [
        ("item", ["a"]), ("items", [0]), ("number", []), ("whole", []), ("word", []), ("moment", []),
        ("zoned", []), ("keyed", ["k"]), ("labelled", ["k"]), ("headed", ["k", 0]), ("named", ["k", 0]),
        ("odd", []), ("odd", [0]), ("scalar", []), ("array", [[0, 0]]), ("table", ["k", 0]), ("big", []),
        ("many", [1]), ("endless", []), ("exact", []),
    ]  # fmt: skip
    told = [await filled.value(name, keys, "") for name, keys in asked]
    assert [one for one, value in zip(asked, told, strict=True) if value.text or not value.why] == []
    assert (await ran(filled, "ran")).results == ["[]"]


async def test_a_kernel_that_has_not_begun_has_no_values(tmp_path: Path) -> None:
    kernel = LocalKernels(str(tmp_path)).get("python")
    assert await kernel.value("a", [], "") == WrittenValue(why="no code has run yet")
    assert kernel.generation == 0
