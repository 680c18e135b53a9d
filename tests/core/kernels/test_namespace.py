"""What a run did to the person's variables."""

import pytest

from terp.events.changes import delta_line
from terp.events.kernel import Kernel
from terp.events.outputs import VariableChange
from tests.core.kernels.running import interrupted_at, ran


async def delta(kernel: Kernel, code: str) -> str:
    """The line about the last of the cells in `code`, which "---" divides; each must end well."""
    line = ""
    for cell in code.split("---\n"):
        ended = (await ran(kernel, cell)).ended
        assert ended.status == "ok", ended
        line = delta_line(ended.changes, ended.more_changes)
    return line


TOLD = [
    ("x = 1", "+x int"),
    ("x = 1\n---\nx = 1", ""),
    ("x = 41_000\n---\nx = 1_000", "~x 41,000 → 1,000"),
    ("x = float('nan')\n---\nx = float('nan')", ""),
    ("x = 1\n---\nx = True", "~x 1 → True"),
    ("x = 1\n---\ndel x", "−x"),
    ("import sys\nso = sys.stdout\n---\nprint(1)", ""),
    ("xs = [1, 2]\n---\nxs.append(3)", "~xs 2 → 3 items"),
    ("xs = [1, 2]\n---\nxs[0] = 5", "~xs list 2"),
    ("xs = list(range(4_000))\n---\nxs[1_234] = -1", "~xs list 4,000 144 kB"),
    ("xs = [1, 2]\n---\nlen(xs)", ""),
    ("d = {'a': 1}\n---\nd['a'] = 2", "~d: a 1 → 2"),
    ("d = {'a': 1}\n---\nd['b'] = 2", "~d 1 → 2 items · +b"),
    ("s = {1}\n---\ns.add(2)", "~s 1 → 2 items"),
    ("t = 'short'\n---\nt = 'short'", ""),
    ("t = 'bob b'\n---\nt = 'al b'", "~t 'bob b' → 'al b'"),
    ("def f(): pass\nclass A: pass", "+f function · +A class"),
    ("class A: pass\na = A()\n---\na.fitted = 1", "~a"),
    ("import json, math", ""),
    ("_hidden = 1\n---\n1 + 1", ""),
    ("for i in range(3): pass", "+i int"),
    ("out = 3", "+out int"),
    ("b = b'x' * 200_000", "+b bytes 200,000 200 kB"),
]


@pytest.mark.parametrize(("code", "line"), TOLD)
async def test_a_run_tells_what_it_did_to_the_variables(kernel: Kernel, code: str, line: str) -> None:
    await ran(kernel, "%reset -f")
    assert await delta(kernel, code) == line


NUMBERS = "import numpy as np, pandas as pd\n"
TABLES = [
    ("a = np.zeros((100, 3))", "+a ndarray 100×3"),
    ("a = np.zeros(100)\n---\na[37] = 1", "~a: values changed"),
    ("a = np.zeros(100)\n---\na.sum();", ""),
    ("a = np.zeros(10**6)\n---\na += 1", "~a: values changed"),
    ("df = pd.DataFrame({'x': range(10_000), 'y': 'text'})", "+df DataFrame 10,000×2 "),
    ("df = pd.DataFrame({'x': range(9)})\n---\ndf['z'] = 1", "~df 9×1 → 9×2 · +z"),
    ("df = pd.DataFrame({'x': range(9)})\n---\ndf.loc[3, 'x'] = 70", "~df: x changed"),
    ("df = pd.DataFrame({'x': range(9), 'y': 2.0})\n---\ndf.describe(); df.sum(); repr(df);", ""),
    ("df = pd.DataFrame({'x': list('cba')})\n---\ndf.sort_values('x', inplace=True)", "~df: x changed"),
    ("s = pd.Series([1, 2])\n---\ns[0] = 7", "~s: values changed"),
    ("df = pd.DataFrame({'x': [0, 0]})\n---\ndf['x'] = df.x.astype(float)", "~df: x int64 → float64"),
    (
        "df = pd.DataFrame({'t': pd.to_datetime(['2024'], utc=True).as_unit('us')})\n---\n"
        "df['t'] = df.t.dt.tz_convert('Asia/Tokyo')",
        "~df: t datetime64[us, UTC] → datetime64[us, Asia/Tokyo]",
    ),
    (
        "df = pd.DataFrame([[1, 2], [3, 4]], columns=['a', 'a'])\n---\ndf.iloc[0, 0] = 7",
        "~df: a changed",
    ),
]


@pytest.mark.parametrize(("code", "line"), TABLES)
async def test_changes_of_tables_and_arrays_are_seen(kernel: Kernel, code: str, line: str) -> None:
    await ran(kernel, f"%reset -f\n{NUMBERS}")
    told = await delta(kernel, code)
    assert told.startswith(line) if line else told == ""


SEEN = """
import numpy as np, pandas as pd
df = pd.DataFrame({'Age': [1.0, None, 3.0] * 300, 'Fare': range(900), 'Cabin': ['a', 'b', None] * 300})
"""
DATA = [
    ("df = df.dropna(subset=['Age'])", "~df 900×3 → 600×3 · Age: 300 nulls dropped"),
    ("df['Age'] = df['Age'].fillna(0)", "~df: Age: 300 nulls filled"),
    ("df.loc[0, 'Cabin'] = None", "~df: Cabin: 1 more null"),
    ("df['Fare'] = df['Fare'].astype(float)", "~df: Fare int64 → float64"),
    ("df = df.rename(columns={'Fare': 'Price'})", "~df: +Price · −Fare"),
    ("df = df['Age']", "~df 900×3 → 900 values"),
    ("df = None", "~df 900×3 → None"),
    ("for n in range(9): df[f'c{n}'] = n", "~df 900×3 → 900×12 · +c0, c1, c2 and 6 more"),
    ("df = pd.DataFrame(np.zeros((3, 300)))", "~df 900×3 → 3×300 · columns not compared"),
]


@pytest.mark.parametrize(("code", "line"), DATA)
async def test_a_run_reports_what_it_did_to_a_table(kernel: Kernel, code: str, line: str) -> None:
    await ran(kernel, f"%reset -f\n{SEEN}")
    changes = (await ran(kernel, f"df;\n{code}")).ended.changes
    assert [delta_line([one]) for one in changes if one.name == "df"] == [line]


async def test_equal_texts_of_arrow_in_new_memory_are_no_change(kernel: Kernel) -> None:
    pytest.importorskip("pyarrow")
    await ran(kernel, "%reset -f\nimport pandas as pd\ndf = pd.DataFrame({'x': ['a', None, 'b'] * 50})")
    assert await delta(kernel, "df = pd.concat([df.head(1), df.iloc[1:]]); df['y'] = 1") == (
        "~df 150×1 → 150×2 · +y"
    )
    assert await delta(kernel, "df.loc[63, 'x'] = 'c'") == "~df: x changed"


MODELS = """
import sys, types
class BaseEstimator:
    def __init__(self): self.C = 1.0
    def fit(self): self.coef_ = [1]; return self
class Pipeline(BaseEstimator):
    def __init__(self): self.steps = [("last", BaseEstimator())]
    def fit(self): self.steps = [("last", BaseEstimator().fit())]
sys.modules["sklearn.base"] = types.ModuleType("sklearn.base")
sys.modules["sklearn.base"].BaseEstimator = BaseEstimator
model, pipe = BaseEstimator(), Pipeline()
---
"""


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("model.fit();", "~model: fitted"),
        ("model.fit();\n---\nmodel.C = 10; model.fit();", "~model: fitted again · C 1 → 10"),
        ("pipe.fit()", "~pipe: fitted"),
        ("other = BaseEstimator().fit()", "+other BaseEstimator: fitted"),
    ],
)
async def test_a_model_of_scikit_learn_is_reported_as_fitted(kernel: Kernel, code: str, line: str) -> None:
    await ran(kernel, "%reset -f")
    assert await delta(kernel, MODELS + code) == line


async def test_values_under_secret_names_and_texts_like_secrets_are_not_reported(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    await ran(kernel, "password, token, login = 'old', 'x', {'password': 1}")
    code = f"password, token, login['password'] = 'new', 'sk-proj-{'b8A' * 12}', 2"
    assert await delta(kernel, code) == "~password str 3 · ~token str 44 · ~login dict 1"


HOSTILE = """
class Meta(type):
    def __getattribute__(cls, name): raise SystemExit(name)
    __hash__ = __eq__ = lambda *_: 1 / 0
class Bad(metaclass=Meta):
    __slots__ = ("x", "__weakref__")
    def __getattribute__(self, name): print("ran", name); raise SystemExit(name)
    def __repr__(self): print("ran repr"); return 7
    __len__ = __sizeof__ = __eq__ = __hash__ = __bool__ = __iter__ = __repr__
class Lazy:
    @property
    def shape(self): print("computed"); return (1,)
    @property
    def __class__(self): print("asked for its class"); return int
    @property
    def __dict__(self): print("asked for its dict"); return {}
class Sized(list):
    def __len__(self): print("ran len"); return -1
    def __sizeof__(self): print("ran sizeof"); return "?"
bad, lazy, sized = Bad(), Lazy(), Sized([1, 2])
items = [bad, lazy]
"""


async def test_looking_at_variables_runs_no_code_of_their_classes(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    run = await ran(kernel, HOSTILE)
    assert (run.stdout, run.stderr, run.ended.status) == ("", "", "ok")
    assert {(change.name, change.type, change.shape) for change in run.ended.changes} == {
        ("Meta", "class", ()),
        ("Bad", "class", ()),
        ("Lazy", "class", ()),
        ("Sized", "class", ()),
        ("bad", "Bad", ()),
        ("lazy", "Lazy", ()),
        ("sized", "Sized", (2,)),
        ("items", "list", (2,)),
    }
    again = await ran(kernel, "sized.append(3); bad, lazy = Bad(), Lazy(); items[0] = bad; items.pop();")
    assert again.stdout == ""
    told = {change.name: (change.was, change.now, change.facts) for change in again.ended.changes}
    assert told.pop("items") == ("2", "1 item", ())
    assert set(told.values()) <= {("", "", ()), ("2", "3 values", ())}
    assert told.keys() == {"sized", "bad", "lazy"}


async def test_looking_at_a_variable_does_not_keep_it_alive(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    await ran(kernel, "class A:\n    def __del__(self): print('gone')\na = A()")
    assert (await ran(kernel, "del a")).stdout == "gone\n"


async def test_a_name_of_another_alphabet_or_none_is_harmless(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    run = await ran(
        kernel, "globals()['a\\x1b[31m\\n'] = 1; globals()[7] = 8; größe = type('x\\ny', (), {})()"
    )
    assert [(change.name, change.type) for change in run.ended.changes] == [
        ("a\\x1b[31m\\n", "int"),
        ("größe", "x\\ny"),
    ]
    await ran(kernel, "del globals()[7]")


async def test_with_very_many_names_the_mentioned_and_the_new_ones_are_compared(
    kernel: Kernel,
) -> None:
    await ran(kernel, "%reset -f")
    made = (await ran(kernel, "for n in range(100_000): globals()[f'v{n}'] = n")).ended
    # Private names that IPython makes are counted with what is not named.
    assert (len(made.changes), made.more_changes // 10) == (20, 9_998)
    assert await delta(kernel, "v5 = -1; fresh = 1; del v6") == "+fresh int · ~v5 5 → -1 · −v6"
    assert await delta(kernel, "1 + 1") == ""
    gone = (await ran(kernel, "%reset -f")).ended
    assert gone.more_changes > 99_990
    assert await delta(kernel, "x = 1") == "+x int"


async def test_a_run_that_fails_or_is_interrupted_tells_its_changes_too(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    failed = (await ran(kernel, "before = 1\n1 / 0\nafter = 1")).ended
    assert (failed.status, failed.changes) == ("error", (VariableChange("before", "new", "int", (), 28),))
    stopped = await interrupted_at(kernel, "kept = 1\nprint('on')\nwhile True: pass", "on")
    assert delta_line(stopped.ended.changes) == "+kept int"


async def test_a_fresh_kernel_has_nothing_to_compare_with(kernel: Kernel) -> None:
    await ran(kernel, "x = 1")
    await kernel.restart()
    assert await delta(kernel, "y = 1") == "+y int"


async def test_names_that_ipython_adds_with_each_run_do_not_count_as_many(kernel: Kernel) -> None:
    await kernel.restart()
    await ran(kernel, "xs = [1]\ndef grow(): xs.append(1)")
    for _ in range(300):
        await ran(kernel, "1")
    assert await delta(kernel, "grow()") == "~xs 1 → 2 items"
