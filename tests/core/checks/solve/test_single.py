"""Problems in one file."""

import pytest

from terp.checks.solve.problem import Pair, is_python, read_markdown, read_python
from terp.errors import SettingsError


def test_headings_name_the_parts_of_markdown() -> None:
    problem = read_markdown(
        "# Add\n\nAdd two.\n\n"
        "## Examples\n\n1, 2: 3\n\n## Interface\n\n```python\ndef add(a, b): ...\n```\n\n"
        "## Tests\n\n```python\nassert add(1, 2) == 3\n```\n",
        "adding",
    )
    assert problem.description == "# Add\n\nAdd two.\n\n"
    assert problem.example == "## Examples\n\n1, 2: 3\n\n"
    assert (problem.interface, problem.tests) == ("def add(a, b): ...\n", "assert add(1, 2) == 3\n")


def test_a_comment_in_a_block_is_no_heading() -> None:
    problem = read_markdown("Add.\n\n```python\n# Test\nassert add(1, 2) == 3\n```\n", "adding")
    assert (problem.description.count("\n"), problem.tests) == (6, "# Test\nassert add(1, 2) == 3\n")


def test_blocks_of_input_and_output_make_a_program_of_it() -> None:
    problem = read_markdown("Double.\n\n```input\n4\n```\n\n```output\n8\n```\n", "double")
    assert (problem.pairs, problem.is_program) == ((Pair("4\n", "8\n"),), True)


def test_a_python_file_is_description_interface_and_tests() -> None:
    problem = read_python('"""Add."""\n\n\ndef add(a, b): ...\n\n\nassert add(1, 2) == 3\n', "adding")
    assert (problem.description, problem.interface) == ("Add.", "def add(a, b): ...")
    assert [test.code for test in problem.given] == ["assert add(1, 2) == 3"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def add(a, b): ...", "no docstring"),
        ("def add(a, b: ...", "the problem adding is no Python: line 1: "),
        (f"x{'.y' * 10_000}", "the problem adding is no Python: "),
    ],
)
def test_a_python_file_that_is_no_problem_is_refused(text: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        read_python(text, "adding")


def test_python_is_told_from_markdown_by_its_docstring() -> None:
    assert (is_python('"""Add."""'), is_python("Add two numbers.")) == (True, False)
