"""An expression that is a check: it is evaluated, and what it evaluates cannot make it true."""

from pathlib import Path

import pytest

from tests.core.checks.until.projects import BROKEN, RIGHT, Judge, project, write

pytestmark = pytest.mark.anyio


async def test_an_expression_of_the_project_s_modules_can_be_true(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), "py: shop.total([1, 2]) == 3")
    first = await judge.why()
    write(tmp_path, {"shop.py": RIGHT})
    assert (first, await judge.why()) == ("The expression is not true: its value is False.", "")


async def test_an_expression_finds_modules_of_packages(tmp_path: Path) -> None:
    project(tmp_path, **{"shop.py": "", "parts/__init__.py": "", "parts/sums.py": RIGHT})
    assert (
        await Judge(tmp_path, "py: parts.sums.total([1]) == 1 and len(os.path.join('a', 'b')) == 3").why()
        == ""
    )


@pytest.mark.parametrize("way", ["import sys; sys.exit(0)", "import os; os._exit(0)"])
async def test_a_module_that_leaves_gives_an_expression_no_value(tmp_path: Path, way: str) -> None:
    judge = Judge(project(tmp_path, **{"shop.py": way}), "py: shop.total([1, 2]) == 3")
    assert await judge.why() == "The expression has no value: its process ended first, with exit status 0."


async def test_builtins_of_the_project_do_not_judge_an_expression(tmp_path: Path) -> None:
    fake = "import builtins\nbuiltins.bool = lambda _: 1 == 1\nbuiltins.eval = lambda *_: 1 == 1\n"
    judge = Judge(project(tmp_path, **{"shop.py": fake + BROKEN}), "py: shop.total([1, 2]) == 3")
    assert await judge.why() == "The expression is not true: its value is False."


async def test_what_an_expression_raises_is_in_the_output(tmp_path: Path) -> None:
    why, ran = await Judge(project(tmp_path), "py: shop.average([1])").run()
    assert why == "The expression has no value: its process ended first, with exit status 1."
    assert "AttributeError: module 'shop' has no attribute 'average'" in ran.process.output
