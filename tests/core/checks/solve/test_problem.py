"""Problems as they are given: folders."""

from pathlib import Path

import pytest

from terp.checks.solve.problem import GIVEN, LARGEST, Pair, Problem, Test, read_folder
from terp.errors import SettingsError

FILES = {
    "DESCRIPTION": "Add.",
    "EXAMPLE": "3",
    "INTERFACE": "def add(a, b): ...",
    "TEST": "assert add(1, 2) == 3",
}


def folder(tmp_path: Path, **changed: str | bytes) -> Path:
    made = tmp_path / "adding"
    made.mkdir()
    for name, text in {**FILES, **changed}.items():
        (made / name.replace("_", ".")).write_bytes(text if isinstance(text, bytes) else text.encode())
    return made


def problem_with(tmp_path: Path, **changed: str | bytes) -> str:
    """What is wrong with a folder whose files were changed."""
    with pytest.raises(SettingsError) as wrong:
        read_folder(folder(tmp_path, **changed))
    return wrong.value.message


def test_four_files_are_a_problem(tmp_path: Path) -> None:
    problem = read_folder(folder(tmp_path))
    assert problem == Problem("adding", "Add.", "3", "def add(a, b): ...", "assert add(1, 2) == 3")
    assert problem.given == (Test(GIVEN, "assert add(1, 2) == 3"),)


def test_files_of_input_and_output_are_pairs(tmp_path: Path) -> None:
    made = folder(tmp_path, **{"1_in": "4\n", "1_out": "8\n", "2_in": "5\n", "2_ans": "10\n"})
    assert read_folder(made).pairs == (Pair("4\n", "8\n"), Pair("5\n", "10\n"))


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    made = folder(tmp_path)
    (made / "TEST").unlink()
    with pytest.raises(SettingsError, match="adding has no TEST: it needs"):
        read_folder(made)


def test_a_file_over_10_kb_is_refused(tmp_path: Path) -> None:
    assert problem_with(tmp_path, TEST="#" * (LARGEST + 1)).endswith(
        "TEST is larger than 10 KB: it is no file of a problem."
    )


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    assert problem_with(tmp_path, EXAMPLE=b"\xff\xfe").endswith("EXAMPLE is no text in UTF-8.")


def test_tests_that_are_no_python_are_refused(tmp_path: Path) -> None:
    told = problem_with(tmp_path, TEST="assert add(1, 2 == 3")
    assert told.startswith("the tests of the problem adding are no Python: line 1: ")


def test_an_input_without_output_is_refused(tmp_path: Path) -> None:
    assert "has 1.in, but no 1.out" in problem_with(tmp_path, **{"1_in": "4"})


def test_a_problem_asks_something(tmp_path: Path) -> None:
    assert problem_with(tmp_path, DESCRIPTION=" \n") == "the problem adding has no description."
