import contextlib
import re
from collections.abc import Sequence
from itertools import islice

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from terp.analysis.slicing.cutting import KeptCell, Source, slice_of

NAMES = st.sampled_from("abcf")
_ONE = (
    "{0} = 1",
    "{0} = [1, 2]",
    "{0} = {1}",
    "{0} = [{1}, {2}]",
    "{0} = {1}[0]",
    "{0} = list({1})",
    "{0} = iter({1})",
    "{0} = (v for v in {1})",
    "{0} = len({1})",
    "{0} = [{1} for _ in {2}]",
    "{0} = lambda: {1}.append(3)",
    "{0} = {1}()",
    "{0} = {1}({2})",
    "{0}, {1} = {2}, {0}",
    "{0} += [7]",
    "{0}.append({1})",
    "{0}.append(5)",
    "{0}[0] = {1}",
    "{0}.pop()",
    "next({0})",
    "del {0}",
    "print({0})",
    "sum({0})",
    "for {0} in {1}:\n    {2} = {0}",
    "for _ in {0}:\n    pass",
    "if {0}:\n    {1} = {2}",
    "def {0}(x=None):\n    global {1}\n    {1} = {2}\n    return x",
    "def {0}(x=None):\n    return {1}",
    "def {0}(x=None):\n    x.append(9)\n    return x",
    "def {0}(x=None, kept=[]):\n    kept.append(x)\n    return kept",
    "class {0}:\n    items = []\n    def __init__(self, x=None):\n        self.items.append({1})",
    "{0} = {1}.items",
    "exec('{0} = 3')",
    "{0} = sorted({1}, key=lambda v: {2}.append(v) or 0)",
    "{0} = {1} = []",
    "for _v in {0}:\n    _v.append(3)\n    break",
    "[_v.append(4) for _v, _ in zip({0}, [1, 2])]",
    "list(map({0}.append, [{1}]))",
    "def {0}(x=None):\n    m = {1}\n    m.append(8)\n    return m",
    "def {0}(x=None):\n    for m in {1}:\n        m.append(x)\n        break",
    "{0}().append(6)",
    "list.append({0}, {1})",
    "{0} = lambda v=None, kept={1}: kept.append(v) or kept",
    "match {0}:\n    case [{1}, *_]:\n        {1}.append(4)",
    "if ({0} := {1}):\n    {0}.append(4)",
    "def {0}(x=None):\n    global {1}\n    def {1}(x=None):\n        return {2}",
    "try:\n    del {0}\nexcept NameError:\n    {1} = 2",
    "{0} = [{0}, *{1}]",
    "{0} = {1}, {2}",
)
STATEMENTS = st.builds(lambda form, *names: form.format(*names), st.sampled_from(_ONE), NAMES, NAMES, NAMES)
PROGRAMS = st.lists(st.lists(STATEMENTS, min_size=1, max_size=2).map("\n".join), min_size=2, max_size=9)


def ran(codes: Sequence[str]) -> tuple[dict[str, object], list[bool]]:
    """The names after the cells ran, and which of them came to their end."""
    namespace: dict[str, object] = {}
    ended = []
    for code in codes:
        with contextlib.redirect_stdout(None):
            try:
                exec(code, namespace)  # the programs of this file
            except RecursionError:
                raise
            except Exception:  # noqa: BLE001  # a cell that fails is one of the cases
                ended.append(False)
            else:
                ended.append(True)
    return namespace, ended


def told(namespace: dict[str, object], name: str) -> str:
    """The value of a name, without addresses."""
    if name not in namespace:
        return "nothing"
    value = namespace[name]
    if hasattr(value, "__next__"):
        value = list(islice(value, 20))  # type: ignore[call-overload]
    return re.sub(r"0x\w+", "…", repr(value)) if isinstance(value, int | list) else type(value).__name__


@settings(max_examples=400, deadline=None)
@given(PROGRAMS, st.sampled_from("abc"))
def test_the_slice_gives_the_value_that_all_give(program: list[str], wanted: str) -> None:
    program = ["a = [1, 2]\nb = [a]\nc = [3]\nf = list", *program]
    try:
        namespace, ended = ran(program)
        expected = told(namespace, wanted)
        cells = [Source(code, ended=whole) for code, whole in zip(program, ended, strict=True)]
        kept = slice_of(cells, [wanted])
        sliced, _ = ran([program[one.index] for one in kept])
        assert told(sliced, wanted) == expected
    except RecursionError:
        assume(False)


def indices(*codes: str, wanted: str = "x") -> list[int]:
    return [one.index for one in slice_of([Source(code) for code in codes], [wanted])]


@pytest.mark.parametrize(
    ("codes", "kept"),
    [
        (["x = 1", "y = 2"], [0]),
        (["x = 1", "x = 2"], [1]),
        (["y = 1", "x = y", "y = 3"], [0, 1]),
        (["x = []", "print(len(x))", "x.append(1)"], [0, 2]),
        (["x = []", "y = x", "y.append(1)"], [0, 1, 2]),
        (["import math", "import json", "x = math.pi"], [0, 2]),
        (["def f():\n    return g", "g = 1", "x = f()", "g = 2"], [0, 1, 2]),
        (["x = [1]", "x.copy()", "sorted(x)", "for v in x:\n    print(v)"], [0]),
        (["x = 1", "if x:\n    x = 2"], [0, 1]),
        (["%matplotlib inline", "x = 1", "y = 2"], [0, 1]),
        (["y = 1", "exec('x = y')", "z = 1"], [0, 1]),
    ],
)
def test_only_what_made_it_is_kept(codes: list[str], kept: list[int]) -> None:
    assert indices(*codes) == kept


@pytest.mark.parametrize(
    "codes",
    [
        ["x = y = []", "y.append(1)"],
        ["x = []", "list.append(x, 1)"],
        ["x = []", "list(map(x.append, [1]))"],
        ["x = [[1]]", "for y in x:\n    y.append(2)"],
        ["x = {'a': []}", "[y.append(2) for y in x.values()]"],
        ["x = [[1]]", "def f(y):\n    y.append(2)", "[f(y) for y in x]"],
        ["x = [[1]]", "def f(y):\n    y.append(2)", "list(map(f, x))"],
        ["x = []", "def f():\n    y = x\n    y.append(1)", "f()"],
        ["x = []", "def f():\n    return x", "f().append(1)"],
        ["x = []", "f = lambda y, z=x: z.append(y)", "f(1)"],
        ["x = [[1]]", "match x:\n    case [y]:\n        y.append(2)"],
        ["x = 1", "def f():\n    global x\n    import math as x", "f()"],
        [
            "def f():\n    n = []\n    def g():\n        return n\n    return g, g",
            "y, z = f()",
            "y().append(1)",
            "x = z()",
        ],
        ["class A:\n    def head(self):\n        self.n = 1", "x = A()", "x.head()"],
        ["class A:\n    def __len__(self):\n        self.n = 1\n        return 1", "x = A()", "len(x)"],
        ["from collections import defaultdict", "x = defaultdict(int)", "print(x['a'])"],
        ["from collections import defaultdict", "if True:\n    x = defaultdict(int)", "print(x['a'])"],
        ["from collections import deque", "x = deque()", "deque.append(x, 1)"],
        ["import operator", "x = [1]", "operator.setitem(x, 0, 2)"],
        ["import functools", "x = []", "functools.reduce(lambda y, z: y.append(z) or y, [1], x)"],
        ["import numpy as np", "x = np.zeros(2)", "np.add(x, 1, out=x)"],
        ["import numpy as np", "x = np.zeros(2)", "np.add(x, 1, x)"],
        ["import numpy as np", "x = np.zeros(2)", "x.round(1, x)"],
        ["import random", "y = random.Random(1)", "y.sample(range(9), 2)", "x = y.random()"],
        ["import pandas as pd", "y = pd.Series([1])", "pd.options.display.max_rows = 1", "x = str(y)"],
        ["import pandas as pd", "y = 1", "z = pd.DataFrame({'a': [1]})", "x = z.query('a == @y')"],
        ["import duckdb", "import pandas as pd", "y = pd.DataFrame()", "x = duckdb.sql('from y').fetchall()"],
        ["import os", "from pathlib import Path", "os.chdir('/')", "x = Path.cwd()"],
        ["import sys", "sys.path.append('/a')", "import b", "x = b"],
        ["open('b.py', 'w').write('')", "import b", "x = b"],
        ["import xml.dom", "import xml", "x = xml.dom"],
        ["import io", "x = io.StringIO()", "print(1, file=x)"],
        ["x = 1", "def f(): ...", "f.__globals__['x'] = 2"],
        ["import io, pandas as pd", "x = io.StringIO()", "pd.Series([1]).to_csv(x)"],
        ["y = 1", "x = 'y' in dir()"],
    ],
    ids=lambda codes: codes[-1],
)
def test_all_of_these_is_needed(codes: list[str]) -> None:
    assert indices(*codes) == list(range(len(codes)))


@pytest.mark.parametrize(
    ("codes", "kept"),
    [
        (["def f(v):\n    return v[0]", "y = [1]", "x = [2]", "f(y)", "f(x)"], [2]),
        (["def f(v):\n    return [w + 1 for w in v]", "y = [1]", "x = f(y)", "z = f(y)"], [0, 1, 2]),
        (["N = 3", "def f(v):\n    return v * N", "y = f([1])", "x = f([2])", "y.append(1)"], [0, 1, 3]),
        (["x = [1]", "y = sorted(x, key=lambda v: -v)", "y = list(map(str, x))"], [0]),
        (
            ["def g(y): ...", "def f(y):\n    g(y)", "def g(y):\n    y.append(1)", "x = []", "f(x)"],
            [1, 2, 3, 4],
        ),
        (["import pandas as pd", "x = pd.Series([1])", "x.to_csv('a.csv')"], [0, 1]),
        (["import os", "import os.path as p", "x = p.sep", "print(os.sep)"], [1, 2]),
    ],
)
def test_what_only_looks_is_left_out(codes: list[str], kept: list[int]) -> None:
    assert indices(*codes) == kept


def test_looking_at_a_table_does_not_make_it() -> None:
    codes = [
        "import pandas as pd\nimport matplotlib.pyplot as plt",
        "df = pd.DataFrame({'a': [1, 2]})",
        "df.head()",
        "df.describe()",
        "plt.plot(df['a'])\nplt.show()",
        "df['b'] = df['a'] * 2",
        "print(df.groupby('a').sum())",
        "x = df.b.sum()",
    ]
    assert indices(*codes) == [0, 1, 5, 7]


def test_files_are_written_before_they_are_read() -> None:
    codes = ["open('a.txt', 'w').write('1')", "y = 2", "x = open('a.txt').read()"]
    assert indices(*codes) == [0, 2]


def test_random_numbers_come_after_their_seed() -> None:
    codes = ["import numpy as np", "np.random.seed(1)", "np.zeros(3)", "x = np.random.rand()"]
    assert indices(*codes) == [0, 1, 3]


def test_a_cell_that_failed_may_have_done_a_part() -> None:
    cells = [Source("x = 1"), Source("x = 2\n1 / 0", ended=False), Source("y = 1")]
    assert [one.index for one in slice_of(cells, ["x"])] == [0, 1]


def test_why_a_cell_is_kept_is_told() -> None:
    cells = [
        Source("x = y = 1"),
        Source("make", "shell"),
        Source("%load_ext autoreload"),
        Source("from m import *"),
    ]
    assert slice_of(cells, ["x"]) == [
        KeptCell(0, ("x", "y")),
        KeptCell(1, (), "it is shell"),
        KeptCell(2, (), "it has commands of IPython"),
        KeptCell(3, ("x",), "it imports *"),
    ]


def test_commands_that_only_look_are_left_out() -> None:
    assert slice_of([Source("ls -l", "shell"), Source("x = 1")], ["x"]) == [KeptCell(1, ("x",))]


def test_a_cell_can_be_wanted_for_what_it_shows() -> None:
    cells = [Source("y = 1"), Source("x = 2"), Source("print(x)")]
    assert slice_of(cells, [], {2}) == [KeptCell(1, ("x",)), KeptCell(2)]
