"""A check runs in a process and a copy of its own, and what it tests cannot make it pass."""

import os
import sys
from pathlib import Path

import pytest

from terp.checks.until.originals import Differences
from tests.core.checks.until.projects import BROKEN, RIGHT, TESTS, Judge, project, write

pytestmark = pytest.mark.anyio
PYTEST = f"{sys.executable} -m pytest -q"
NOT_REPORTED = (
    "It ended with exit status 0, but pytest has not reported how its tests ended: "
    "something ended it early, or kept it from reporting."
)


async def test_a_check_passes_when_its_command_ends_with_status_0(tmp_path: Path) -> None:
    assert await Judge(project(tmp_path), "test -f shop.py").why() == ""


async def test_another_status_is_no_pass_and_the_output_is_there(tmp_path: Path) -> None:
    why, ran = await Judge(project(tmp_path), "echo so far; echo bad >&2; exit 3").run()
    assert (why, ran.process.output) == ("It ended with exit status 3.", "so far\nbad\n")


async def test_a_program_in_the_middle_of_a_line_counts(tmp_path: Path) -> None:
    assert await Judge(project(tmp_path), "false | cat").why() == "It ended with exit status 1."


async def test_right_code_passes_its_tests(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), PYTEST)
    await judge.look()
    first = await judge.why()
    write(tmp_path, {"shop.py": RIGHT})
    assert (judge.before, first, await judge.why()) == (2, "It ended with exit status 1.", "")


async def test_printing_that_it_passed_is_no_pass(tmp_path: Path) -> None:
    fake = "print('2 passed in 0.01s')\n" + BROKEN
    assert await Judge(project(tmp_path, **{"shop.py": fake}), PYTEST).why() == "It ended with exit status 1."


@pytest.mark.parametrize("way", ["import sys; sys.exit(0)", "raise SystemExit(0)"])
async def test_leaving_with_status_0_is_no_pass(tmp_path: Path, way: str) -> None:
    judge = Judge(project(tmp_path, **{"shop.py": f"{way}\n{BROKEN}"}), PYTEST)
    assert await judge.why() != ""


@pytest.mark.parametrize(
    "way",
    [
        "import os; os._exit(0)",
        "import atexit, os; atexit.register(os._exit, 0)",
        "import os, threading; threading.Timer(0.0, os._exit, (0,)).start()",
    ],
)
async def test_ending_the_process_early_with_status_0_is_no_pass(tmp_path: Path, way: str) -> None:
    judge = Judge(project(tmp_path, **{"shop.py": f"{way}\n{BROKEN}"}), PYTEST)
    assert await judge.why() in (
        NOT_REPORTED,
        "The process ended with exit status 0, but 1 of its tests have failed.",
    )


async def test_changed_tests_are_put_back_and_listed(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), PYTEST)
    write(tmp_path, {"test_shop.py": "def test_of_nothing():\n    pass\n"})
    why, ran = await judge.run()
    assert (why, ran.other) == ("It ended with exit status 1.", Differences(changed=("test_shop.py",)))
    assert (tmp_path / "test_shop.py").read_text() == "def test_of_nothing():\n    pass\n"


async def test_tests_that_were_removed_are_put_back(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path, **{"tests/test_more.py": TESTS}), PYTEST)
    for name in ("test_shop.py", "tests/test_more.py"):
        (tmp_path / name).unlink()
    (tmp_path / "tests").rmdir()
    why, ran = await judge.run()
    assert (why, ran.other) == (
        "It ended with exit status 1.",
        Differences(missing=("test_shop.py", "tests/test_more.py")),
    )


PASSING = "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
SKIPPING = "import pytest\n\n@pytest.fixture(autouse=True)\ndef no():\n    pytest.skip('no')\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("conftest.py", PASSING),
        ("conftest.py", SKIPPING),
        ("tests/conftest.py", SKIPPING),
        ("sitecustomize.py", "import os; os._exit(0)\n"),
        ("pytest.ini", "[pytest]\naddopts = --deselect test_shop.py::test_of_some\n"),
        ("setup.cfg", "[tool:pytest]\naddopts = -k of_nothing\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-k of_nothing'\n"),
    ],
)
async def test_new_files_that_steer_the_tests_are_left_out(tmp_path: Path, name: str, text: str) -> None:
    judge = Judge(project(tmp_path), PYTEST)
    write(tmp_path, {name: text})
    why, ran = await judge.run()
    assert (why, ran.other) == ("It ended with exit status 1.", Differences(new=(name,)))


async def test_a_new_plug_in_of_pytest_is_left_out(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), PYTEST)
    plugin = "import pytest\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call():\n    return True\n"
    entry = {
        "a.egg-info/PKG-INFO": "Name: a\nVersion: 1\n",
        "a.egg-info/entry_points.txt": "[pytest11]\na = a\n",
    }
    write(tmp_path, {"a.py": plugin, **entry})
    why, ran = await judge.run()
    assert (why, ran.other) == (
        "It ended with exit status 1.",
        Differences(new=("a.egg-info/entry_points.txt",)),
    )


@pytest.mark.parametrize("name", ["pytest.py", "math.py", "src/pluggy/__init__.py"])
async def test_a_new_module_in_place_of_an_installed_one_is_left_out(tmp_path: Path, name: str) -> None:
    judge = Judge(project(tmp_path), PYTEST)
    write(tmp_path, {name: "print('2 passed')\n"})
    why, ran = await judge.run()
    assert (why, ran.other) == ("It ended with exit status 1.", Differences(new=(name,)))


async def test_a_module_in_place_of_pytest_is_no_pass(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path, **{"pytest.py": ""}), PYTEST)
    write(tmp_path, {"pytest.py": "print('2 passed')\n"})
    assert await judge.why() == NOT_REPORTED


async def test_compiled_modules_of_the_project_are_not_used(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), "test ! -e __pycache__")
    write(tmp_path, {"__pycache__/shop.cpython-311.pyc": "x"})
    assert await judge.why() == ""


async def test_tests_that_the_code_skips_are_no_pass(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), PYTEST)
    skipping = "    if prices:\n        raise unittest.SkipTest('no')\n    return 0\n"
    write(tmp_path, {"shop.py": f"import unittest\n\ndef total(prices):\n{skipping}"})
    assert await judge.why() == f"Tests were skipped by the code that they test: {tmp_path / 'shop.py'}."


@pytest.mark.parametrize(
    "way", ["import unittest\n\nraise_ = unittest.SkipTest", "from pytest import xfail as raise_"]
)
async def test_tests_that_the_code_skips_in_another_process_are_no_pass(tmp_path: Path, way: str) -> None:
    judge = Judge(project(tmp_path), f"{PYTEST} -n 2")
    skipping = "    if prices:\n        raise raise_('no')\n    return 0\n"
    write(tmp_path, {"shop.py": f"{way}\n\ndef total(prices):\n{skipping}"})
    assert await judge.why() == f"Tests were skipped by the code that they test: {tmp_path / 'shop.py'}."


async def test_tests_that_the_code_expects_to_fail_are_no_pass(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), PYTEST)
    failing = "    return pytest.xfail('no') if prices else 0\n"
    write(tmp_path, {"shop.py": f"import pytest\n\ndef total(prices):\n{failing}"})
    assert await judge.why() == f"Tests were skipped by the code that they test: {tmp_path / 'shop.py'}."


async def test_tests_that_the_code_ends_are_no_pass(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), PYTEST)
    ending = "    return pytest.exit('enough', 0) if prices else 0\n"
    write(tmp_path, {"shop.py": f"import pytest\n\ndef total(prices):\n{ending}"})
    assert await judge.why() == "Only 1 of 2 tests have finished."


async def test_tests_that_expect_to_fail_themselves_do_no_harm(tmp_path: Path) -> None:
    more = TESTS + "\n\nimport pytest\n\n@pytest.mark.xfail\ndef test_later():\n    assert False\n"
    assert await Judge(project(tmp_path, **{"shop.py": RIGHT, "test_shop.py": more}), PYTEST).why() == ""


async def test_tests_that_skip_themselves_do_no_harm(tmp_path: Path) -> None:
    more = TESTS + "\n\nimport pytest\n\n@pytest.mark.skip\ndef test_later():\n    assert False\n"
    assert await Judge(project(tmp_path, **{"shop.py": RIGHT, "test_shop.py": more}), PYTEST).why() == ""


async def test_fewer_tests_than_before_are_no_pass(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path, **{"test_more.py": "def test(): pass\n"}), PYTEST)
    await judge.look()
    write(tmp_path, {"shop.py": "import unittest\nraise unittest.SkipTest('all of it')\n"})
    assert await judge.why() == "Only 1 tests were found; before there were 3."


async def test_no_test_at_all_is_no_pass(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), f"{PYTEST} -k nothing_is_called_so || true")
    assert await judge.why() == "The process ended with exit status 0, but 0 of its tests have failed."


async def test_new_tests_run_in_a_second_pass_alone(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path, **{"shop.py": RIGHT}), PYTEST)
    write(tmp_path, {"test_new.py": "def test_new():\n    assert False\n"})
    why, ran = await judge.run()
    disk = await judge.sandbox.run(judge.goal, judge.originals, on_disk=True)
    assert (why, ran.other, disk.process.status) == ("", Differences(new=("test_new.py",)), 1)


async def test_new_tests_of_any_name_are_not_found_by_pytest_in_the_first_pass(tmp_path: Path) -> None:
    names = {"pytest.ini": "[pytest]\npython_files = *.py\n"}
    judge = Judge(project(tmp_path, **names), PYTEST)
    await judge.look()
    cheat = "import shop\nshop.total = sum\n"
    write(tmp_path, {"aaa.py": cheat, "shop.py": BROKEN})
    assert await judge.why() == "It ended with exit status 1."


# The test file of a project: tests of users patch, and the check must not take that for cheating.
PATCHING = """
import builtins
from unittest import IsolatedAsyncioTestCase, mock

import pytest
from hypothesis import given, settings, strategies
from shop import total

@pytest.fixture(autouse=True, scope="module")
def quiet():
    with mock.patch("builtins.print"):
        yield

def test_of_some(monkeypatch):
    monkeypatch.setattr(builtins, "input", lambda _: "2")
    assert total([1, int(input(""))]) == 3

@settings(deadline=None)
@given(strategies.integers())
def test_of_one(price):
    assert total([price]) == price

@pytest.mark.anyio
async def test_later():
    assert total([]) == 0

class Sums(IsolatedAsyncioTestCase):
    async def test(self):
        self.assertEqual(total([1]), 1)
"""


@pytest.mark.parametrize("options", ["", "-n 1"])
async def test_tests_that_patch_for_a_while_and_plug_ins_do_no_harm(tmp_path: Path, options: str) -> None:
    judge = Judge(project(tmp_path, **{"test_shop.py": PATCHING, "shop.py": RIGHT}), f"{PYTEST} {options}")
    await judge.look()
    assert await judge.why() == ""


async def test_names_that_are_replaced_are_told_from_other_processes(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), f"{PYTEST} -n 1")
    write(tmp_path, {"shop.py": f"import builtins\nbuiltins.input = print\n{RIGHT}"})
    assert await judge.why() == "Code that judges the tests was replaced while they ran: builtins.input."


async def test_tests_that_write_files_of_the_check_are_no_pass_unless_that_is_allowed(tmp_path: Path) -> None:
    writing = {"test_shop.py": f"{TESTS}\nopen('tests/log.txt', 'w').write('x')\n", "tests/log.txt": ""}
    work = project(tmp_path, **{"shop.py": RIGHT}, **writing)
    allowed = await Judge(work, PYTEST, "!tests/log.txt").why()
    assert (await Judge(work, PYTEST).why(), allowed) == (
        "Files of the check were written while it ran: tests/log.txt. "
        "If its own tests do that, allow it: --until-protect '!tests/log.txt'.",
        "",
    )


async def test_a_script_that_the_check_names_is_kept(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path, **{"check.sh": "exit 4\n"}), "sh ./check.sh")
    write(tmp_path, {"check.sh": "exit 0\n"})
    assert await judge.why() == "It ended with exit status 4."


async def test_a_script_in_a_folder_that_the_check_goes_to_is_kept(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path, **{"ci/run": "exit 4\n"}), "cd ci && sh run")
    write(tmp_path, {"ci/run": "exit 0\n"})
    assert await judge.why() == "It ended with exit status 4."


async def test_tests_are_kept_whatever_their_files_are_called(tmp_path: Path) -> None:
    named = "[pytest]\npython_files = check_*.py\n"
    judge = Judge(project(tmp_path, **{"pytest.ini": named, "check_shop.py": TESTS}), PYTEST)
    await judge.look()
    write(
        tmp_path, {"check_shop.py": "def test_of_nothing():\n    pass\n\n\ndef test_of_some():\n    pass\n"}
    )
    why, ran = await judge.run()
    assert (why, ran.other) == ("It ended with exit status 1.", Differences(changed=("check_shop.py",)))


async def test_tests_named_by_their_full_path_are_those_of_the_copy(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), f"{PYTEST} {tmp_path}/test_shop.py")
    write(tmp_path, {"test_shop.py": "def test_of_nothing():\n    pass\n"})
    assert await judge.why() == "It ended with exit status 1."


@pytest.mark.parametrize(
    ("files", "options", "root"),
    [
        ({}, "", ""),
        ({"a/tests/test_a.py": "", "a/setup.py": ""}, "a/tests", "a"),
        ({"a/pyproject.toml": "", "pytest.ini": ""}, "a", ""),
        ({"a/pyproject.toml": "[tool.pytest.ini_options]\n"}, "a", "a"),
        ({"a/tox.ini": "[tox]\n", "b/tests/pytest.ini": ""}, "b/tests", "b/tests"),
    ],
)
async def test_the_root_of_pytest_is_where_it_would_be_in_the_project(
    tmp_path: Path, files: dict[str, str], options: str, root: str
) -> None:
    shown = "def test(request): print(f'root: {request.config.rootpath}')\n"
    where = f"{options or '.'}/test_root.py"
    judge = Judge(project(tmp_path, **files, **{where: shown}), f"{PYTEST} -s {options}; false")
    _, ran = await judge.run()
    assert f"root: {tmp_path / root}\n" in ran.process.output


async def test_a_check_has_an_empty_folder_for_temporary_files(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'import os, tempfile; print(os.listdir(tempfile.gettempdir()))'; false"
    _, ran = await Judge(project(tmp_path), command).run()
    assert ran.process.output == "[]\n"


async def test_examples_in_docstrings_do_not_keep_their_code(tmp_path: Path) -> None:
    told = '"""\n>>> total([1, 2])\n3\n"""\n\n\n'
    judge = Judge(project(tmp_path, **{"shop.py": told + BROKEN}), f"{PYTEST} --doctest-modules")
    await judge.look()
    write(tmp_path, {"shop.py": told + RIGHT})
    assert (judge.before, await judge.why()) == (3, "")


async def test_a_link_in_the_way_of_a_test_is_not_followed(tmp_path: Path) -> None:
    work, elsewhere = project(tmp_path / "work", **{"tests/test_more.py": TESTS}), tmp_path / "elsewhere"
    judge = Judge(work, PYTEST)
    elsewhere.mkdir()
    (work / "tests" / "test_more.py").unlink()
    (work / "tests").rmdir()
    (work / "tests").symlink_to(elsewhere)
    why, _ = await judge.run()
    assert (why, list(elsewhere.iterdir())) == ("It ended with exit status 1.", [])


async def test_a_check_changes_nothing_in_the_project(tmp_path: Path) -> None:
    await Judge(project(tmp_path), "rm -r shop.py test_shop.py; echo > new").why()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git", "shop.py", "test_shop.py"]


async def test_a_check_runs_in_the_folder_of_the_session_in_its_project(tmp_path: Path) -> None:
    project(tmp_path, **{"parts/a.txt": "", "pytest.ini": "[pytest]\n"})
    _, ran = await Judge(tmp_path / "parts", "pwd; ls ..; false").run()
    assert ran.process.output == f"{tmp_path}/parts\nparts\npytest.ini\nshop.py\ntest_shop.py\n"


async def test_a_check_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    why, ran = await Judge(project(tmp_path), "echo begun; sleep 60", timeout_s=0.5).run()
    assert (why, ran.process.status, ran.process.output) == (
        "It took too long and was ended.",
        None,
        "begun\n",
    )


async def test_output_is_cut_in_the_middle(tmp_path: Path) -> None:
    _, ran = await Judge(project(tmp_path), "seq 1 100000; false", max_chars=400).run()
    assert ran.process.output.startswith("1\n2\n") and ran.process.output.endswith("99999\n100000\n")
    assert len(ran.process.output) < 500


async def test_what_a_check_leaves_running_ends_with_it(tmp_path: Path) -> None:
    judge = Judge(project(tmp_path), f"(setsid sleep 300; echo late > {tmp_path}/late) & exit 0")
    why, ran = await judge.run()
    assert (why, ran.process.seconds < 30) == ("", True)


async def test_only_folders_of_the_project_are_looked_for_in_its_copy(tmp_path: Path) -> None:
    write(tmp_path, {"sales-parts/of_another.py": "", "sales/own/of_this.py": ""})
    path = f"{tmp_path}/sales-parts:{tmp_path}/sales/own"
    command = f'{sys.executable} -c "import of_another, of_this; print(of_this.__file__)"'
    judge = Judge(project(tmp_path / "sales"), command, environ={**os.environ, "PYTHONPATH": path})
    assert await judge.why() == ""


async def test_keys_do_not_reach_a_check(tmp_path: Path) -> None:
    environ = {"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "sk-secret", "HOME": str(tmp_path)}
    _, ran = await Judge(project(tmp_path / "work"), "env; false", environ=environ).run()
    assert "sk-secret" not in ran.process.output
