import asyncio

import pytest

from terp.events.kernel import Kernel, Variable
from terp.events.outputs import Text
from tests.core.kernels.running import PATIENCE_S, ran

SHOWN = [
    ("2 + 2", "", ["4"], None),
    ("result = 2+2\nresult", "", ["4"], None),
    ("x = 3\nprint(x)", "3\n", [], None),
    ("result = 2+2", "", [], None),
    ("def f(): pass", "", [], None),
    ("import math", "", [], None),
    ("class A: 1", "", [], None),
    ('"""doc"""', "", ["'doc'"], None),
    ("1\n's'", "", ["'s'"], None),
    ("2+2;", "", [], "4"),
    ("d = {}\nd.get('a')", "", [], "None"),
    ("None", "", [], "None"),
    ("x = 1\nx += 1", "", [], None),
    ("x: int = 3", "", [], None),
    ("async def f(): return 5\nawait f()", "", ["5"], None),
    ("!echo listed", "listed\r\n", [], None),
    ("if True:\n    5", "", [], None),
    ("for i in range(2): i", "", [], None),
    ("print('a') # comment", "a\n", [], None),
]


@pytest.mark.parametrize(("code", "stdout", "results", "hidden"), SHOWN)
async def test_the_last_expression_is_shown_as_in_ipython_and_a_hidden_one_is_told(
    kernel: Kernel, code: str, stdout: str, results: list[str], hidden: str | None
) -> None:
    run = await ran(kernel, code)
    assert (run.stdout, run.results, run.ended.hidden_value) == (stdout, results, hidden)
    assert run.ended.status == "ok"


async def test_magics_and_help_hide_nothing(kernel: Kernel) -> None:
    assert (await ran(kernel, "%timeit -n1 -r1 1")).ended.hidden_value is None
    assert (await ran(kernel, "?len")).ended.hidden_value is None


async def test_a_hidden_giant_is_told_short(kernel: Kernel) -> None:
    hidden = (await ran(kernel, "list(range(10**6));")).ended.hidden_value
    assert hidden == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …]"


async def test_the_bootstrap_leaves_no_name_behind(kernel: Kernel) -> None:
    await kernel.restart()
    code = (
        "import sys\nprint([name for name in dir() if 'terp' in name], 'matplotlib' in sys.modules)\ndel sys"
    )
    assert (await ran(kernel, code)).stdout == "[] False\n"
    assert (await ran(kernel, "%who")).stdout == "Interactive namespace is empty.\n"
    assert await kernel.variables() == ()


async def test_variables_are_the_persons_and_nothing_else(kernel: Kernel) -> None:
    await kernel.restart()
    await ran(kernel, "import math\nx = 1; y = 't'; z = [1, 2, 3]; _hidden = 0\ndef f(a): pass\nx")
    assert [(v.name, v.type, v.shape, v.head) for v in await kernel.variables()] == [
        ("f", "function", (), "f(a)"),
        ("x", "int", (), "1"),
        ("y", "str", (1,), "'t'"),
        ("z", "list", (3,), "[1, 2, 3]"),
    ]


async def test_variables_survive_giants_and_reprs_that_raise(kernel: Kernel) -> None:
    await kernel.restart()
    code = """
class Bad:
    def __repr__(self): raise ValueError("no")
    def __len__(self): raise ValueError("no")
bad = [Bad()]
worse = Bad()
big = bytes(10**9)
many = dict.fromkeys(range(10**6))
number = 10 ** 10**6
del Bad
"""
    await ran(kernel, code)
    found = {variable.name: variable for variable in await kernel.variables()}
    assert found["bad"] == Variable("bad", "list", (1,), None, "[<Bad>]")
    assert found["worse"].head == "<its repr raised ValueError>"
    assert (found["big"].shape, found["big"].size) == ((10**9,), 10**9 + 33)
    assert found["number"].head == "<int of 3321929 bits>"
    assert all(len(variable.head) <= 100 for variable in found.values())
    await ran(kernel, "del big, many")


async def test_variables_and_completions_come_while_code_runs(kernel: Kernel) -> None:
    await kernel.restart()
    async with asyncio.timeout(PATIENCE_S):
        code = "import time\nhere = 1\nprint('on', flush=True)\nwhile here: time.sleep(0.01)\nprint(input())"
        async for item in kernel.execute(code):
            if isinstance(item, Text):
                assert await kernel.variables() == (Variable("here", "int", (), 28, "1"),)
                assert await kernel.names() == {"here": "int"}
                assert "here" in await kernel.complete("her", 3)
                await kernel.interrupt()


async def test_a_question_while_code_runs_does_not_take_its_input_away(kernel: Kernel) -> None:
    items = []
    async with asyncio.timeout(PATIENCE_S):
        async for item in kernel.execute(
            "print('on', flush=True)\nimport time\ntime.sleep(0.2)\nprint(input('?'))"
        ):
            items.append(item)
            if isinstance(item, Text):
                await kernel.variables()
            elif type(item).__name__ == "InputRequest":
                await kernel.type_in("typed")
    assert Text("stdout", "typed\n") in items


async def test_completion(kernel: Kernel) -> None:
    await ran(kernel, "some_name = 1")
    assert "some_name" in await kernel.complete("print(some_n", 12)


async def test_what_a_question_shows_is_nobodys_output(kernel: Kernel) -> None:
    await kernel.variables()
    assert (await ran(kernel, "print(1)")).stdout == "1\n"
