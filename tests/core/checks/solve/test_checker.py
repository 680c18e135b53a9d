"""Single tests, each in a confined process."""

import re
import socket
from pathlib import Path

import pytest

from terp.checks.solve.checker import Checker
from terp.checks.solve.problem import GIVEN, Pair, Test
from terp.errors import SettingsError
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.policy import ResourceLimits
from terp.testing import EchoKernel

pytestmark = pytest.mark.anyio


async def checked(
    tmp_path: Path, code: str, test: str | Pair, timeout_s: float = 30.0, limits: ResourceLimits | None = None
) -> Test:
    checker = Checker(LocalKernels(str(tmp_path)), timeout_s, limits)
    given = Test(GIVEN, pair=test) if isinstance(test, Pair) else Test(GIVEN, test)
    return (await checker.all(code, [given]))[0]


async def test_an_assert_that_holds_passes(tmp_path: Path) -> None:
    ended = await checked(
        tmp_path, "def f(xs: List[int]) -> int:\n    return sum(xs)", "assert f([1, 2]) == 3"
    )
    assert (ended.status, ended.error) == ("passed", "")


async def test_nodes_of_lists_and_trees_are_there(tmp_path: Path) -> None:
    code = """
def first(head: Optional[ListNode]) -> TreeNode:
    return TreeNode(head.val, TreeNode(head.next.val))
"""
    test = """
tree = first(ListNode(1, ListNode(2)))
assert (tree.val, tree.left.val, tree.right) == (1, 2, None)
"""
    assert (await checked(tmp_path, code, test)).error == ""


async def test_an_assert_that_fails_shows_both_values(tmp_path: Path) -> None:
    ended = await checked(tmp_path, "def f(n):\n    return n", "assert f(1) == 2")
    assert (ended.status, ended.error.splitlines()[-1]) == ("failed", "AssertionError: 1 is not 2")


async def test_an_error_names_the_line_of_the_solution_alone(tmp_path: Path) -> None:
    ended = await checked(tmp_path, "def f(n):\n    return 1 / n", "assert f(0) == 2")
    assert 'File "solution.py", line 2, in f\n    return 1 / n' in ended.error
    assert "solution_run.py" not in ended.error


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.exit(0)",
        "import os; os._exit(0)",
        "print('passed')",
        "import builtins; builtins.exec = lambda *rest: None",
        "import atexit, os; atexit.register(os._exit, 0); f = 1",
        "class Same:\n    def __eq__(self, other): raise SystemExit(0)\nf = lambda n: Same()",
        "import threading, os; threading.Timer(0, os._exit, [0]).start(); import time; time.sleep(9)",
    ],
)
async def test_what_leaves_early_or_says_so_has_not_passed(tmp_path: Path, code: str) -> None:
    assert (await checked(tmp_path, code, "assert f(1) == 1")).status == "failed"


async def test_what_takes_too_long_is_told_as_that(tmp_path: Path) -> None:
    ended = await checked(tmp_path, "while True: pass", "assert True", 0.5)
    assert (ended.status, ended.error) == ("timeout", "It timed out after 0.5 s.")


async def test_memory_has_a_limit(tmp_path: Path) -> None:
    limits = ResourceLimits(memory_mb=512)
    ended = await checked(tmp_path, "x = bytearray(5 << 30)", "assert True", limits=limits)
    assert "MemoryError" in ended.error


async def test_nothing_outside_can_be_written(tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'x')!r}, 'w')"
    assert (await checked(tmp_path, code, "assert True")).status == "failed"
    assert not (tmp_path / "x").exists()


async def test_nothing_of_this_machine_can_be_reached(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code = f"import socket\nsocket.create_connection({listener.getsockname()})"
        ended = await checked(tmp_path, code, "assert True")
    # Refused, not permitted or unreachable: that depends on the sandbox.
    assert re.search(r"^(ConnectionRefusedError|PermissionError|OSError): ", ended.error, re.MULTILINE)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("n = int(input())\nprint(n * 2)", "passed"),
        ("import sys\nprint(int(sys.stdin.read()) * 2, end='  \\n\\n')\nsys.exit(0)", "passed"),
        ("print(input())", "failed"),
        ("print(8)\n1 / 0", "failed"),
        ("import sys; sys.exit(0)", "failed"),
        ("print('8' * 20_000_000)", "failed"),
    ],
)
async def test_a_program_passes_with_the_output_that_is_expected(
    tmp_path: Path, code: str, status: str
) -> None:
    assert (await checked(tmp_path, code, Pair("4\n", "8\n"))).status == status


async def test_a_program_that_fails_shows_what_it_wrote(tmp_path: Path) -> None:
    assert (await checked(tmp_path, "print(input())", Pair("4\n", "8\n"))).error == "It wrote:\n4"


async def test_where_code_runs_elsewhere_nothing_is_checked() -> None:
    with pytest.raises(SettingsError, match="behind a gateway"):
        Checker(EchoKernel())
