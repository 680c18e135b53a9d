"""What `make` does before anything is installed."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCKED = """\
# This list is made by a tool.
a-package==1.0 ; python_full_version < '3.13' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via
    #   terp
Other.Package[extra]==2.0 \\
    --hash=sha256:cc
"""


def install() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / ".ci" / "install.py"))


def find_python(**environment: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(ROOT / ".ci" / "find-python")]
    env = {"PATH": os.environ["PATH"], **environment}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_a_locked_list_is_read_with_markers_and_hashes() -> None:
    assert install()["entries"](LOCKED) == [
        "a-package==1.0 ; python_full_version < '3.13' --hash=sha256:aa --hash=sha256:bb",
        "Other.Package[extra]==2.0 --hash=sha256:cc",
    ]


def test_a_package_is_found_under_any_spelling_of_its_name() -> None:
    names = map(install()["name"], ["Other.Package[extra]==2.0", "other_package>=1", "other--package ; x"])
    assert set(names) == {"other-package"}


def test_the_python_that_is_named_is_taken() -> None:
    found = find_python(PYTHON=sys.executable)
    assert (found.returncode, found.stdout, found.stderr) == (0, f"{sys.executable}\n", "")


def test_without_a_usable_python_the_answer_says_what_to_do() -> None:
    found = find_python(PYTHON="no-such-python")
    assert found.returncode == 1
    assert found.stderr == (
        "terp needs Python 3.11 or later, with its venv module.\n"
        "On Debian and Ubuntu: apt-get install python3 python3-venv\n"
        "One that stands elsewhere: make PYTHON=/path/to/python\n"
    )


def test_packages_come_from_where_pip_would_take_them() -> None:
    listed = "global.find-links='a'\nglobal.cert='c'\n:env:.find-links='b'\ninstall.extra-index-url='x y'\n"
    settings = install()["settings_of_pip"](listed)
    assert settings == {"find-links": "b", "cert": "c", "extra-index-url": "x y"}
    assert install()["places"](settings) == ["--index", "x", "--index", "y", "--find-links", "b"]


def release_summary(results: dict[str, str], tests: list[str]) -> list[str]:
    check = runpy.run_path(str(ROOT / ".ci" / "release_check.py"))
    return str(
        check["summary"]({name: check[result] for name, result in results.items()}, tests)
    ).splitlines()


def test_a_release_with_a_python_that_is_missing_has_not_all_passed() -> None:
    assert release_summary({"Python 3.13": "PASSED", "Python 3.14": "MISSING"}, []) == [
        "Python 3.13: passed",
        "Python 3.14: NOT TESTED: uv finds no such Python",
        "release-check: passed IN PART",
    ]


def test_a_release_with_a_part_of_the_tests_has_not_all_passed() -> None:
    assert release_summary({"Python 3.13": "PASSED"}, ["tests/core"])[1:] == [
        "all tests but tests/core: NOT TESTED",
        "release-check: passed IN PART",
    ]


def test_a_release_whose_tests_failed_says_with_which_python() -> None:
    assert release_summary({"Python 3.13": "FAILED", "Python 3.14": "MISSING"}, [])[::2] == [
        "Python 3.13: FAILED",
        "release-check: failed",
    ]


def test_a_release_names_a_python_whose_tests_passed_only_alone() -> None:
    assert release_summary({"Python 3.13": "ALONE"}, []) == [
        "Python 3.13: passed, the tests named above only with nothing beside them",
        "release-check: all passed",
    ]


def test_a_release_has_passed_when_all_was_tested() -> None:
    assert release_summary({"Python 3.13": "PASSED"}, [])[-1] == "release-check: all passed"


def failed_alone(folder: Path, *names: str) -> tuple[int, str]:
    kept = folder / ".pytest_cache/v/cache/lastfailed"
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps(dict.fromkeys(names, True)))
    (folder / "test_it.py").write_text("def test_good(): pass\ndef test_bad(): raise ValueError\n")
    program = [sys.executable, str(ROOT / ".ci" / "failed_alone.py")]
    # `.ci/run` names a plugin of this suite, which a folder elsewhere does not have.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ended = subprocess.run(program, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout.splitlines()[-1]


def test_a_test_that_passes_alone_is_no_failure(tmp_path: Path) -> None:
    code, last = failed_alone(tmp_path, "test_it.py::test_good")
    assert (code, last.partition(" in ")[0]) == (0, "1 passed")


def test_a_test_that_fails_again_alone_is_a_failure(tmp_path: Path) -> None:
    code, last = failed_alone(tmp_path, "test_it.py::test_bad")
    assert (code, last.partition(" in ")[0]) == (1, "1 failed")


def test_many_failures_are_not_run_again(tmp_path: Path) -> None:
    assert failed_alone(tmp_path, *(f"test_it.py::test_{n}" for n in range(11))) == (
        1,
        "  test_it.py::test_9",
    )
