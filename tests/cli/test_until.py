"""`terp --until` in a small repository: the real program, a real kernel, real tests."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.cli.running import Terp, said, to
from tests.core.checks.until.projects import RIGHT, project
from tests.loopback import Call, Loopback, Scripted

T = TypeVar("T")

PYTEST = f"{sys.executable} -m pytest -q"
FIXES: list[Scripted] = [Call(code=f"open('shop.py', 'w').write({RIGHT!r})"), "Fixed."]


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    made = Terp(tmp_path)
    project(made.cwd)
    return made


def test_the_tests_are_made_to_pass_and_the_answer_is_alone_on_stdout(terp: Terp) -> None:
    result = terp.asked(["They pass.", *FIXES], "-y", "--until", PYTEST, "make the tests pass")
    assert (result.code, result.out) == (0, "Fixed.\n")
    assert f"[check] Checking: {PYTEST}\n" in result.notes
    assert (
        "[check] The check has not passed. It ended with exit status 1. The model is asked again"
        in result.notes
    )
    assert "[check] The check has passed, after " in result.notes


def test_a_script_of_the_check_that_stays_changed_is_no_pass(terp: Terp) -> None:
    (terp.cwd / "check.sh").write_text("test -f made\n")
    changes: list[Scripted] = [Call(code="open('check.sh', 'w').write('exit 3'); open('made', 'w')"), "Done."]
    flags = ("-y", "--until", "sh check.sh", "--max-revisions", "1", "--output-format", "json")
    result = terp.asked([*changes, "Is it?"], *flags, "make it")
    why = (
        "It passes with the original files alone, and not with those on disk: It ended with exit status 3. "
        "Restore check.sh, or let it be changed: --until-protect '!check.sh'."
    )
    assert (result.code, [one["why"] for one in json.loads(result.out)["checks"]]) == (1, [why, why])
    assert why in said(result.requests[-1])[-1][1]
    assert (terp.cwd / "check.sh").read_text() == "exit 3"


def test_a_check_that_never_passes_ends_with_1_and_json_has_every_attempt(terp: Terp) -> None:
    flags = ("-y", "--until", "echo no; exit 2", "--max-revisions", "1", "--output-format", "json")
    result = terp.asked(["Done.", "Done again."], *flags, "do it")
    told = json.loads(result.out)
    assert (result.code, told["stop_reason"], told["answer"]) == (1, "until_failed", "Done again.")
    assert [(one["attempt"], one["status"], one["output"]) for one in told["checks"]] == [
        (1, 2, "no\n"),
        (2, 2, "no\n"),
    ]


# Only in a folder that no other program uses: what is written is obeyed by every pytest below it.
ABOVE = """
import os, pathlib, tempfile
own = pathlib.Path(tempfile.gettempdir())
assert os.environ["TMPDIR"] and own.resolve() != pathlib.Path("/tmp")
(own / "pytest.ini").write_text("[pytest]\\n")
(own / "conftest.py").write_text('''
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call():
    return True
''')
"""


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_files_above_the_copy_of_the_project_steer_no_check(terp: Terp, sandbox: str) -> None:
    environ = {} if sandbox == "auto" else {"TMPDIR": str(terp.cwd.parent)}
    flags = ("-y", "--sandbox", sandbox, "--until", PYTEST, "--max-revisions", "1")
    result = terp.asked([Call(code=ABOVE), "Done.", "Done."], *flags, "make the tests pass", **environ)
    assert (result.code, "The check has not passed" in result.notes) == (1, True)
    assert "AssertionError" not in "".join(text for _, text in said(result.requests[1]))


def test_an_expression_is_a_check(terp: Terp) -> None:
    result = terp.asked(FIXES, "-y", "--until", "py: shop.total([1, 2]) == 3", "go")
    assert (result.code, result.out) == (0, "Fixed.\n")


def test_a_check_that_is_none_is_a_mistake_of_the_caller(terp: Terp) -> None:
    result = terp.asked([], "--until", "py: 1 +", "go")
    assert (result.code, result.notes) == (
        2,
        "terp: until: 'py: 1 +' is no Python expression: invalid syntax.\n",
    )


def test_the_check_of_a_profile_of_one_s_own_runs_with_y(terp: Terp) -> None:
    (terp.home / "config.yaml").write_text("until: test -f shop.py\n")
    result = terp.asked(["Yes."], "-y", "go")
    assert (result.code, result.out) == (0, "Yes.\n")


@pytest.mark.parametrize("flags", [(), ("-y",)])
def test_the_check_of_a_trusted_project_is_asked_about(terp: Terp, flags: tuple[str, ...]) -> None:
    (terp.cwd / ".terp").mkdir()
    (terp.cwd / ".terp" / "profile.yaml").write_text("until: touch ran\n")
    assert terp("trust", "yes").code == 0
    result = terp.asked(["Yes."], *flags, "go")
    assert (result.code, result.out, result.requests) == (3, "", [])
    assert (
        "terp: The check of .terp/profile.yaml:1 may not run, so the model was not asked: touch ran"
        in result.notes
    )
    assert not (terp.cwd / "ran").exists()


def test_nothing_of_a_check_outlives_terp(terp: Terp) -> None:
    told = terp.cwd.parent / "pid"
    with Loopback(["Done."]) as server:
        flags = ("-y", "--sandbox", "off", "--until", f"sleep 300 & echo $! > {told}; wait")
        process = terp.start(*to(server), *flags, "go", stdin=subprocess.DEVNULL)
        sleeper = int(soon(lambda: told.exists() and told.read_text().strip()))
        process.kill()
        process.communicate()
    assert soon(lambda: is_gone(sleeper)) is True


def is_gone(pid: int) -> bool:
    """Whether a process has ended, also where nobody has asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def soon(what: Callable[[], T]) -> T:
    """What is not "" or False, once it is so; the last it was after some seconds."""
    until = time.monotonic() + 20.0
    while not (found := what()) and time.monotonic() < until:
        time.sleep(0.02)
    return found
