"""Questions beside the runs: variables, names, completions."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from terp.errors import KernelBusy
from terp.events.kernel import KeepsPast, Kernel, Variable
from terp.events.outputs import Text
from tests.core.kernels.running import PATIENCE_S, ran

SLEEPS = "import time\nhere = 1\nprint('on', flush=True)\ntime.sleep(60)"
# Between its steps, of a second each, another thread can run for a moment.
HOLDS = "here = 1\nprint('on', flush=True)\nwhile here: x = 3 ** 5_000_000"


async def beside(kernel: Kernel, code: str, ask: Callable[[], Awaitable[Any]]) -> tuple[Any, float]:
    """What `ask` gives while `code` runs, or raises, and the seconds it took."""
    answer, took = None, 0.0
    async with asyncio.timeout(PATIENCE_S):
        async for item in kernel.execute(code):
            if isinstance(item, Text) and "on" in item.text:
                began = time.monotonic()
                try:
                    answer = await ask()
                except KernelBusy as error:
                    answer = error
                took = time.monotonic() - began
                await kernel.interrupt()
    return answer, took


async def test_a_variable_has_a_type_a_shape_a_size_and_a_head(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    code = """
import numpy as np, pandas as pd, datetime
day = datetime.date(2024, 2, 3)
a = np.arange(12.0).reshape(3, 4)
df = pd.DataFrame({"x": range(10), "y": 1.5})
s = pd.Series([1, 2])
text = "é" * 1000
nested = {"k": [1, (2, 3)], "f": print}
class Point:
    def __repr__(self): return "Point(1, 2)"
p = Point()
def f(a, *, b): pass
"""
    await ran(kernel, code)
    assert {v.name: (v.type, v.shape, v.head) for v in await kernel.variables()} == {
        "Point": ("class", (), "class"),
        "a": ("ndarray", (3, 4), "float64 [0, 1, 2, 3, …]"),
        "day": ("date", (), "datetime.date(2024, 2, 3)"),
        "df": ("DataFrame", (10, 2), "columns: x, y"),
        "f": ("function", (), "f(a, b)"),
        "nested": ("dict", (2,), "{'k': [1, (…)], 'f': <builtin_function_or_method>}"),
        "p": ("Point", (), "Point(1, 2)"),
        "s": ("Series", (2,), "int64 [1, 2]"),
        "text": ("str", (1000,), "'" + "é" * 99),
    }
    assert {v.name: v.size for v in await kernel.variables() if v.name in ("a", "df")} == {"a": 96, "df": 292}


async def test_a_repr_that_takes_long_is_waited_for_once_and_not_long(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    code = """
import time
class Slow:
    def __repr__(self): time.sleep(3); return "late"
class Busy:
    def __repr__(self):
        while True: pass
class Quick:
    def __repr__(self): return "quick"
a_slow, b_busy, c_quick = Slow(), Busy(), Quick()
"""
    await ran(kernel, code)
    for _ in range(3):
        began = time.monotonic()
        found = {variable.name: variable.head for variable in await kernel.variables()}
        assert time.monotonic() - began < 0.8
    assert found["a_slow"] == found["b_busy"] == "<its repr takes too long>"
    assert found["c_quick"] == "quick"
    assert (await ran(kernel, "print(1)")).stdout == "1\n"


async def test_a_giant_is_listed_as_quickly_as_anything(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f\nimport numpy as np\nbig = np.zeros(125_000_000)\nlots = [big] * 10**6")
    began = time.monotonic()
    found = {variable.name: variable.size for variable in await kernel.variables()}
    assert time.monotonic() - began < 0.5
    assert found["big"] == 10**9
    await ran(kernel, "del big, lots")


async def test_of_very_many_variables_the_first_are_listed(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    await ran(kernel, "for n in range(100_000): globals()[f'v{n:06}'] = [n]")
    found = await kernel.variables()
    assert (len(found), found[0].name, found[-1].name) == (5_000, "n", "v004998")
    await ran(kernel, "%reset -f")


async def test_a_question_leaves_no_trace_in_the_history(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    await ran(kernel, "a = 1")
    for _ in range(3):
        await kernel.variables()
        await kernel.names()
        await kernel.complete("a", 1)
    run = await ran(kernel, "get_ipython().execution_count - 1, In[-2]")
    count = next(item.execution_count for item in run.items if hasattr(item, "execution_count"))
    assert run.results == [f"({count}, 'a = 1')"]


async def test_variables_and_names_come_while_code_sleeps(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    here = Variable("here", "int", (), 28, "1")
    found, took = await beside(kernel, SLEEPS, kernel.variables)
    assert (found, took < 0.3) == ((here,), True)
    assert (await beside(kernel, SLEEPS, kernel.names))[0] == {"here": "int"}


async def test_while_code_runs_no_repr_of_its_classes_is_called(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    await ran(kernel, "class A:\n    def __repr__(self): print('called'); return 'A'\na = A()")
    found, _ = await beside(kernel, SLEEPS, kernel.variables)
    assert {v.name: v.head for v in found}["a"] == ""


async def test_code_that_lets_nothing_else_run_is_said_to_be_busy_at_once(kernel: Kernel) -> None:
    await ran(kernel, "%reset -f")
    took: list[float] = []

    async def until_busy() -> None:
        # What is asked at the end of a step is answered.
        while True:
            began = time.monotonic()
            try:
                await kernel.variables()
            finally:
                took.append(time.monotonic() - began)

    answer, _ = await beside(kernel, HOLDS, until_busy)
    assert isinstance(answer, KernelBusy)
    assert max(took) < 0.6


@pytest.mark.parametrize("code", [SLEEPS, HOLDS])
async def test_completion_never_keeps_who_types_waiting(kernel: Kernel, code: str) -> None:
    for ask in (lambda: kernel.complete("her", 3), kernel.names):
        _, took = await beside(kernel, code, ask)
        assert took < 0.25


async def test_nothing_is_taken_back_under_code_that_runs(kernel: Kernel) -> None:
    assert isinstance(kernel, KeepsPast)
    refused, _ = await beside(kernel, SLEEPS, partial(kernel.take_back, 0, ()))
    assert str(refused).startswith("Code still runs in the kernel, so nothing was undone.")


FORGES = """
import sys
listed = next(one.VariableListing for one in list(sys.modules.values()) if hasattr(one, "VariableListing"))
def forged(self, real=listed.variables):
    listed.variables = real
    return [7, ["x"], ["y", "int", [], 8, "1"]]
listed.variables = forged
"""


async def test_forged_variables_are_left_out(kernel: Kernel) -> None:
    await kernel.variables()
    await ran(kernel, FORGES)
    assert await kernel.variables() == (Variable("y", "int", (), 8, "1"),)
