"""Names as they were when a turn began: put back into the same objects, or told to be in doubt."""

import itertools
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jupyter_core.utils import run_sync

from terp.kernels.inside.checkpoints import is_users_thread
from tests.core.kernels.inside.keeping import Kernel, lost

COUNTER = """
def counter():
    n = 0
    def count():
        nonlocal n
        n += 1
        return n
    return count
count = counter()
"""


@pytest.mark.parametrize(
    ("before", "after", "holds"),
    [
        ("x = 1", "x = 2", "x == 1"),
        ("x = 1", "del x", "x == 1"),
        ("pass", "x = 1; import json", "'x' not in globals() and 'json' not in globals()"),
        ("x = [1, [2]]", "x[1].append(3); x.append(4)", "x == [1, [2]]"),
        ("x = {'a': {'b': 1}}", "x['a']['b'] = 2; x['c'] = 3", "x == {'a': {'b': 1}}"),
        ("x = {1, 2}", "x.add(3)", "x == {1, 2}"),
        ("x = bytearray(b'ab')", "x[0] = 0", "x == b'ab'"),
        ("x = ([],)", "x[0].append(1)", "x == ([],)"),
        ("from collections import *; x = deque([1])", "x.append(2)", "list(x) == [1]"),
        ("import collections; x = collections.OrderedDict(a=1)", "x['b'] = 2", "list(x) == ['a']"),
        ("import collections; x = collections.defaultdict(list)", "x['b'].append(2)", "not x"),
        ("import collections; x = collections.Counter('aab')", "x.update('b')", "x == {'a': 2, 'b': 1}"),
        ("x = iter([1, 2, 3]); next(x)", "next(x)", "list(x) == [2, 3]"),
        ("x = []\ny = x", "y.append(1)", "x == [] and x is y"),
        ("x = []\ny = [x]", "x.append(1); y.clear()", "y[0] is x and x == []"),
        ("x = []\ndef f(): x.append(1)", "f()", "x == []"),
        ("x = []\ndef f(): x.append(1)\ndef g(): f()", "g()", "x == []"),
        ("x = 1\ndef f():\n    global x\n    x = 2", "f()", "x == 1"),
        ("x = []", "exec('x' + '.append(1)')", "x == []"),
        ("x = []", "globals()['x'].append(1)", "x == []"),
        ("def f(): return 1", "f.seen = 1", "not hasattr(f, 'seen')"),
        ("def f(a=1): return a", "f.__defaults__ = (2,); f.__code__ = (lambda a: -a).__code__", "f() == 1"),
        ("class A: pass\nclass B: pass\na = A()", "a.__class__ = B", "type(a) is A"),
        ("import collections; x = collections.defaultdict(list)", "x.default_factory = int", "x[1] == []"),
        ("ﬁ = [1]", "ﬁ.append(2); ﬁ = ﬁ[:]", "ﬁ == [1]"),
        ("import sys; x = [1]", "sys.modules[__name__]", "x == [1]"),
        ("def f(a=[]):\n    a.append(1)\n    return len(a)", "f()", "f() == 1"),
        (COUNTER, "count(); count()", "count() == 1"),
        ("class A: pass\na = A(); a.b = [1]", "a.b.append(2); a.c = 3", "vars(a) == {'b': [1]}"),
        ("class A: n = 0", "A.n = 1; A.m = 2", "A.n == 0 and not hasattr(A, 'm')"),
        ("class A: __slots__ = ('b', 'c')\na = A(); a.b = [1]", "a.b = 3", "a.b == [1]"),
        ("class A: __slots__ = ('b', 'c')\na = A()", "a.c = 3", "not hasattr(a, 'c')"),
        ("class A(dict): pass\na = A(x=1); a.b = 1", "a['y'] = 2; a.b = 2", "a == {'x': 1} and a.b == 1"),
        ("class A(list): pass\na = A([1]); a.b = 1", "a.append(2); a.b = 2", "a == [1] and a.b == 1"),
        ("import functools; x = []; f = functools.partial(x.append, 1)", "f()", "x == []"),
    ],
)  # fmt: skip
def test_a_value_is_as_it_was(before: str, after: str, holds: str) -> None:
    kernel = Kernel()
    kernel.run(1, before)
    kernel.run(2, after)
    assert lost(kernel.back_to(2)) == {}
    assert eval(holds, kernel.names)


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("g = (i for i in range(3)); next(g)", "next(g)", {"g": "generator"}),
        ("g = (i for i in range(3))", "next(g)", {"g": "generator"}),
        ("g = (i for i in range(3))\nb = [g]", "next(b[0])", {"b": "holds generator", "g": "generator"}),
        ("x = list(range(200_000))", "x.append(1)", {"x": "too large"}),
        ("b = bytearray(9); m = memoryview(b)", "m[5] = 1", {"b": "bytearray", "m": "memoryview"}),
        ("import io\nf = io.StringIO()", "f.write('a')", {"f": "StringIO"}),
        ("import math", "math.tau_ = 1; math.e, math.kept = 3, math.e", {"math": "module"}),
    ],
)
def test_what_could_not_be_kept_is_named(before: str, after: str, named: dict[str, str]) -> None:
    kernel = Kernel()
    kernel.run(1, before)
    kernel.run(2, after)
    told = kernel.back_to(2)
    if "math" in named:
        kernel.run(2, "math.e = math.kept; del math.kept, math.tau_")
    assert lost(told) == named


@pytest.mark.parametrize(
    "before", ["g = (i for i in range(3))", "g = (i for i in []); list(g)", "x = list(range(200_000))"]
)
def test_what_no_code_has_used_or_has_proof_is_not_named(before: str) -> None:
    kernel = Kernel()
    kernel.run(1, before)
    kernel.run(2, "y = 'g'" if before.startswith("g") else "y = 1")
    assert kernel.back_to(2) | {"cwd": ""} == {
        "done": True, "back": [], "gone": ["y"], "lost": [], "notes": [], "files": [], "cwd": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    "tells",
    [
        "class A:\n    def __del__(self): gone.append(1)\na = A()",
        "import weakref\nclass A: pass\na = A(); weakref.finalize(a, gone.append, 1)",
    ],
)
def test_nothing_is_held_that_does_something_when_it_goes(tells: str) -> None:
    kernel = Kernel()
    kernel.names["gone"] = gone = list[int]()
    kernel.run(1, tells, "class B: pass\nb = B(); b.a = [a]; c = {'b': b}")
    kernel.run(2, "del a, b, c")
    assert gone == [1]
    assert set(lost(kernel.back_to(2))) >= {"a", "b", "c"}


def test_a_change_that_no_code_told_of_is_named() -> None:
    kernel = Kernel()
    kernel.run(1, "import atexit\nx = []\natexit.register(x.append, 1)")
    kernel.run(2, "atexit._run_exitfuncs()")
    assert lost(kernel.back_to(2)) == {"x": "in a way that could not be seen before"}


def test_threads_are_named() -> None:
    kernel = Kernel()
    kernel.run(
        1, "import threading\ne = threading.Event(); t = threading.Thread(target=e.wait, name='waits')"
    )
    kernel.run(1, "t.start()")
    kernel.run(2, "e.set(); t.join()")
    assert kernel.back_to(2)["notes"] == ["changes by threads are not undone: waits"]


def test_threads_of_jupyter_are_not() -> None:
    assert [is_users_thread(threading.Thread(target=target)) for target in (run_sync, print)] == [False, True]


def test_each_turn_can_be_gone_back_to() -> None:
    kernel = Kernel()
    for turn in range(1, 6):
        kernel.run(turn, "x = []" if turn == 1 else f"x.append({turn})", f"y{turn} = x")
    kernel.back_to(4)
    assert kernel.names["x"] == [2, 3]
    kernel.run(4, "x.append('other')")
    kernel.back_to(2)
    assert (kernel.names["x"], sorted(name for name in kernel.names if name[0] == "y")) == ([], ["y1"])


def test_the_working_directory_and_the_environment_are_as_they_were(tmp_path: Path) -> None:
    kernel = Kernel()
    before = os.getcwd()  # noqa: PTH109
    kernel.run(1, "import os, sys")
    kernel.run(2, f"os.chdir({str(tmp_path)!r}); os.environ['TERP_T'] = '1'; sys.path.append('/nowhere')")
    told = kernel.back_to(2)
    assert told["notes"] == [
        f"the working directory is {before} again",
        "the environment is restored: TERP_T",
        "sys.path is restored",
    ]
    assert (os.getcwd(), "TERP_T" in os.environ, told["cwd"]) == (before, False, before)  # noqa: PTH109


def test_a_turn_that_is_too_long_ago_is_refused() -> None:
    kernel = Kernel()
    for turn in range(1, 110):
        kernel.run(turn, f"x = {turn}")
    assert kernel.back_to(5)["refused"] == "too long ago: its checkpoint has been dropped"
    assert kernel.names["x"] == 109
    kernel.back_to(100)
    assert kernel.names["x"] == 99


def test_a_look_at_very_much_has_an_end() -> None:
    kernel = Kernel()
    kernel.run(1, "x = [[[i] for i in range(99)] for j in range(999)]")
    kernel.checkpoints.begin(2, "x[5][5].append(1)")
    assert set(lost(kernel.back_to(2))) == {"x"}


# Programs that make, share, change and remove small values, for the law below.
VALUES = st.sampled_from([*"12abc", "[]", "[1]", "{}", "{'k': []}", "[a]", "[b, c]", "{'k': a}", "(a, b)"])
NAMES = st.sampled_from("abc")
STATEMENTS = st.one_of(
    st.builds("{} = {}".format, NAMES, VALUES),
    st.builds("del {}".format, NAMES),
    st.builds("add({}, {})".format, NAMES, VALUES),
    st.builds("{}.append({})".format, NAMES, VALUES),
    st.builds("{}['k'] = {}".format, NAMES, VALUES),
    st.builds("{}['k'].append({})".format, NAMES, VALUES),
    st.builds("{}.clear()".format, NAMES),
    st.builds("{}[0].append({})".format, NAMES, VALUES),
    st.builds("add_to_all({})".format, VALUES),
    st.builds("box.held = {}".format, NAMES),
    st.builds("box.add({})".format, VALUES),
    st.builds("count()".format),
    st.builds("{} = box.held".format, NAMES),
    st.builds("{} = iter([1, 2, 3])".format, NAMES),
    st.builds("{} = (i for i in [1, 2, 3])".format, NAMES),
    st.builds("next({})".format, NAMES),
    st.builds("exec('b' + ' = a')".format),
)
FIRST = f"""{COUNTER}
def add(to, value): to.append(value)
def add_to_all(value):
    for name in 'abc':
        globals()[name].append(value)
class Box:
    made = 0
    def add(self, value):
        Box.made += 1
        self.held.append(value)
box = Box()
box.held = []
a, b, c = [], {{}}, 0
"""


def guarded(statement: str) -> str:
    return f"try: {statement}\nexcept Exception: pass\n"


def parts_of(value: Any) -> list[Any]:
    """What a value holds, in an order; for an iterator, what it still has."""
    if isinstance(value, list | tuple):
        return [*value]
    if isinstance(value, dict):
        return [part for item in value.items() for part in item]
    if type(value).__name__ == "Box":
        return [type(value).made, vars(value)]
    return list(itertools.islice(value, 9)) if isinstance(value, Iterator) else []


def form(names: dict[str, Any], shown: Sequence[str]) -> list[Any]:
    """Values and what is shared among them, so that two namespaces can be compared."""
    seen: dict[int, int] = {}
    held: list[Any] = []

    def of(value: Any) -> Any:
        if isinstance(value, int | str | None):
            return value
        if id(value) in seen:
            return ("again", seen[id(value)])
        if not isinstance(value, tuple):
            seen[id(value)] = len(seen)
        held.append(value)
        parts = parts_of(value)
        return (type(value).__name__, [of(part) for part in parts])

    return [(name, of(names[name])) for name in shown if name in names]


@given(st.lists(st.lists(STATEMENTS, max_size=4), min_size=2, max_size=5), st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_what_is_not_named_is_as_in_a_run_of_the_turns_before(turns: list[list[str]], at: int) -> None:
    back_to = 2 + at % len(turns)
    kernel, fresh = Kernel(), Kernel()
    for number, statements in enumerate([[FIRST], *turns], 1):
        cells = [one if one is FIRST else guarded(one) for one in statements]
        kernel.run(number, *cells)
        if number < back_to:
            fresh.run(number, *cells)
    named = lost(kernel.back_to(back_to))
    shown = [name for name in ("a", "b", "c", "box", "count") if name not in named]
    assert form(kernel.names, shown) == form(fresh.names, shown)
    if "count" not in named:
        assert kernel.names["count"]() == fresh.names["count"]()
