"""The code in a reply."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from terp.checks.solve.code import TEST, code_in
from terp.events.messages import Assistant
from terp.testing import call

CODE = "def f():\n    return 1\n"


@pytest.mark.parametrize(
    "text",
    [
        f"I think.\n===code-start===\n{CODE}===code-end===\nDone.",
        f"===code-start===\n```python\n{CODE}```\n===code-end===",
        f"===code-start===\n{CODE}",
        f"Here:\n\n```python\n{CODE}```\n",
        f"````py\n{CODE}````",
        f"```python\n{CODE}",
        CODE,
    ],
)
def test_code_is_found_however_it_is_marked(text: str) -> None:
    assert code_in(Assistant(text)) == CODE


@given(st.lists(st.text(st.characters(exclude_categories=("C", "Z"))), min_size=1))
def test_whatever_stands_between_the_marks_is_the_code(lines: list[str]) -> None:
    code = "\n".join(["x = 1", *lines, "y = 2"]) + "\n"
    assume("===code-" not in code)
    assert code_in(Assistant(f"Words.\n===code-start===\n{code}===code-end===\nMore words.")) == code


def test_the_code_of_a_tool_call_counts() -> None:
    assert code_in(Assistant("", (call(CODE),))) == CODE


def test_backticks_within_code_stay() -> None:
    code = "s = '```x'\nt = '''\n    ```\n'''\n"
    assert code_in(Assistant(f"===code-start===\n{code}===code-end===")) == code
    assert code_in(Assistant("```python\ns = '```x'\n```")) == "s = '```x'\n"


def test_of_several_blocks_that_with_the_interface_counts() -> None:
    text = f"```python\n{CODE}```\nFor example:\n```python\nprint(f())\n```\n```\nanything\n```"
    assert code_in(Assistant(text), frozenset({"f"})) == CODE


def test_the_last_marks_count() -> None:
    text = f"===code-start===\nx = 1\n===code-end===\nNo:\n===code-start===\n{CODE}===code-end==="
    assert code_in(Assistant(text)) == CODE


@pytest.mark.parametrize("text", ["", "I do not know.", "===code-start===\n===code-end==="])
def test_words_are_no_code(text: str) -> None:
    assert code_in(Assistant(text)) == ""


def test_bare_asserts_are_tests_and_no_solution() -> None:
    assert code_in(Assistant("assert f() == 1"), kind=TEST) == "assert f() == 1\n"
    assert code_in(Assistant("assert f() == 1")) == ""
