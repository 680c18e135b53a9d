"""A check is read as it was written."""

import pytest

from terp.checks.until.goal import Check, check_of
from terp.errors import SettingsError


def test_a_line_is_a_shell_command() -> None:
    check = check_of(" pytest -q ")
    assert (check.text, check.expression) == ("pytest -q", "")


def test_py_stands_before_an_expression() -> None:
    assert check_of("py: f(1) == 2").expression == "f(1) == 2"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "until: there is no check: give a shell command, or py: and an expression."),
        ("py:", "until: there is no check: give a shell command, or py: and an expression."),
        ("py: 1 +", "until: 'py: 1 +' is no Python expression: invalid syntax."),
        ("py: x = 1", "until: 'py: x = 1' is no Python expression: invalid syntax."),
    ],
)
def test_what_is_no_check_is_told(text: str, problem: str) -> None:
    with pytest.raises(SettingsError) as told:
        check_of(text)
    assert told.value.problems == (problem,)


@pytest.mark.parametrize(
    ("text", "runs", "alone"),
    [
        ("pytest", True, True),
        ("pytest -q tests", True, True),
        ("python3 -m pytest -x", True, True),
        ("uv run pytest", True, True),
        (".venv/bin/pytest -q", True, True),
        ("ruff check . && pytest -q", True, False),
        ("pytest -q | tail -3", True, False),
        ("pytest $(cat which)", True, False),
        ("make test", False, False),
        ("ls /tmp/pytest-of-ada", False, False),
        ("py: pytest", False, False),
    ],
)
def test_pytest_is_known_by_its_name(text: str, runs: bool, alone: bool) -> None:
    assert (Check(text).runs_pytest, Check(text).is_pytest) == (runs, alone)
