"""`terp run`: code of the person's own has what the first code of a session would have."""

import subprocess
import sys
from pathlib import Path

import pytest

from terp_cli.verbs.run_code import language_for
from tests.cli.running import Result, Terp
from tests.cli.teletype import Teletype
from tests.core.kernels.environments.wheels import index_of, path_with, write_wheel

TOOL = """\
from terp.tools import register_tool
@register_tool
def doubled(x: int):
    'Doubles.'
    return 2 * x
"""
HERE = ("python", "shell", "ruby", "c++", "javascript")


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


@pytest.fixture
def project(terp: Terp) -> Terp:
    """A program in a project with an environment of its own, which holds one module."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", terp.cwd / ".venv"], check=True)
    (packages,) = (terp.cwd / ".venv").glob("lib/python3*/site-packages")
    (packages / "only_here.py").write_text("VALUE = 42\n")
    (terp.cwd / "a.py").write_text("import only_here\nprint(only_here.VALUE)\n")
    return terp


def teletype(terp: Terp, *arguments: str) -> Teletype:
    return Teletype([sys.executable, "-m", "terp_cli", *arguments], terp.cwd, terp.environ)


def test_the_persons_tools_are_there(terp: Terp) -> None:
    (terp.home / "tools.py").write_text(TOOL)
    assert terp("run", "-", data="print(doubled(21))") == Result(0, "42\n", "")


def test_what_is_wrong_with_a_tool_file_is_told(terp: Terp) -> None:
    (terp.home / "tools.py").write_text(TOOL.replace("x: int", "x"))
    result = terp("run", "-", data="print(1)")
    assert (result.code, result.out) == (0, "1\n")
    assert result.notes.endswith("tools.py:3: doubled: parameter `x` has no type annotation.\n")


def test_the_python_of_a_trusted_project_runs_it(project: Terp) -> None:
    assert project("trust", "yes").code == 0
    assert project("run", "a.py").out == "42\n"


def test_the_python_of_another_project_is_left_alone_and_that_is_said(project: Terp) -> None:
    result = project("run", "a.py")
    assert result.code == 1
    assert result.notes.startswith(
        "terp: this project is not trusted, so nothing is taken from it: .venv. See: terp trust\n"
    )
    assert "No module named 'only_here'" in result.notes


@pytest.mark.parametrize("flags", [("--approve", "effect"), ("--deny", "deletes: ./**")])
def test_own_code_is_bound_by_no_approval_of_effects_and_by_no_rule(
    terp: Terp, flags: tuple[str, str]
) -> None:
    (terp.cwd / "old.csv").touch()
    assert terp("run", "-", *flags, data="import os; os.remove('old.csv')") == Result(0, "", "")


@pytest.mark.parametrize("uv", [True, False])
def test_a_package_that_is_missing_is_installed_first_where_that_is_set(
    terp: Terp, tmp_path: Path, uv: bool
) -> None:
    terp.environ["PATH"] = path_with(uv)
    write_wheel(tmp_path / "wheels", "demo_pkg", "demo_mod", "V = 42\n")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    flags = "--auto-install", "known", "--python", str(tmp_path / "env")
    code = "open('log', 'a').write('x')\nimport demo_mod\nprint(demo_mod.V)"
    result = terp("run", "-", *flags, data=code, **index_of(tmp_path / "wheels"))
    assert result == Result(0, "42\n", "terp: Installing demo-pkg…\n")
    assert (terp.cwd / "log").read_text() == "x"


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("ask", "no_such_mod_x is not installed: no user agreed to it."),
        ("never", "no_such_mod_x is not installed, and terp may not install packages."),
    ],
)
def test_why_a_missing_package_was_not_installed_is_told_behind_the_error(
    terp: Terp, policy: str, why: str
) -> None:
    result = terp("run", "--auto-install", policy, "-", data="import no_such_mod_x")
    *_, last, told = result.notes.splitlines()
    assert (result.code, last) == (1, "ModuleNotFoundError: No module named 'no_such_mod_x'")
    assert told == f"terp: {why} --auto-install known or always installs without a question."


def test_what_is_caught_when_it_is_not_there_needs_no_word(terp: Terp) -> None:
    code = "try:\n    import no_such_mod_x\nexcept ImportError:\n    print('none')"
    assert terp("run", "-", data=code) == Result(0, "none\n", "")


def test_a_package_that_only_the_run_asks_for_is_installed_for_the_next(terp: Terp, tmp_path: Path) -> None:
    write_wheel(tmp_path / "wheels", "demo_pkg", "demo_mod", "V = 42\n")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    flags = "--auto-install", "known", "--python", str(tmp_path / "env")
    code = "__import__('importlib').import_module('demo_mod')"
    result = terp("run", "-", *flags, data=code, **index_of(tmp_path / "wheels"))
    last = "terp: demo-pkg (for demo_mod) was missing and is installed now. Run the code again."
    assert (result.code, result.notes.splitlines()[-1]) == (1, last)


@pytest.mark.parametrize(
    ("language", "code", "status"),
    [
        ("shell", "echo 1; exit 3", 3),
        ("shell", "echo 1; (exit 2)", 2),
        ("python", "import sys; print(1); sys.exit(4)", 4),
    ],
)
def test_code_that_exits_ends_as_a_script_does(terp: Terp, language: str, code: str, status: int) -> None:
    assert terp("run", "-l", language, "-", data=code) == Result(status, "1\n", "")


def test_a_display_of_markdown_is_written_as_its_text(terp: Terp) -> None:
    code = "from IPython.display import Markdown\nMarkdown('**b**')"
    assert terp("run", "-", data=code) == Result(0, "**b**\n", "")


def test_a_password_is_not_shown(terp: Terp) -> None:
    (terp.cwd / "a.py").write_text("import getpass\nprint(len(getpass.getpass('Secret? ')))")
    with teletype(terp, "run", "a.py") as terminal:
        terminal.until("Secret? ")
        terminal.until_changed()
        terminal.types("hunter2\r")
        shown, code = terminal.over()
    assert ("hunter2" in shown, "7" in shown, code) == (False, True, 0)


def test_ctrl_c_ends_code_that_waits_for_a_line(terp: Terp) -> None:
    (terp.cwd / "a.py").write_text("input('Name? ')")
    with teletype(terp, "run", "a.py") as terminal:
        terminal.until("Name? ")
        terminal.types("\x03")
        assert terminal.over()[1] == 130


def test_lines_that_come_together_are_handed_out_one_by_one(terp: Terp) -> None:
    (terp.cwd / "a.py").write_text("print([input(), input()])\ninput()")
    result = terp("run", "a.py", data="a\nb")
    assert (result.code, result.out) == (1, "['a', 'b']\n")
    assert "EOFError" in result.notes


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "python"),
        ("a.RB", "ruby"),
        ("a.cc", "c++"),
        ("a.mjs", "javascript"),
        ("a.txt", "python"),
        ("-", "python"),
        # Nothing here runs it, and Python must not try.
        ("a.jl", "jl"),
    ],
)
def test_the_language_is_that_of_the_files_name(name: str, language: str) -> None:
    assert language_for(name, "", HERE) == language
