"""The table of faults, kept true."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`(\*?)", (TESTS / "faults" / "README.md").read_text("utf-8"))


def marks_of(path: str, name: str) -> str | None:
    """What stands before a test, and before all tests of its file; None when there is no such test."""
    text = (TESTS / path).read_text("utf-8")
    found = re.search(rf"((?:^@.*\n(?:^[ )].*\n)*)*)^(?:async )?def {name}\(", text, re.MULTILINE)
    return found and found[1] + "".join(re.findall(r"^pytestmark = .*", text, re.MULTILINE))


def test_every_test_that_the_table_names_is_there() -> None:
    assert len(NAMED) > 30
    assert [(path, name) for path, name, _ in NAMED if marks_of(path, name) is None] == []


def test_the_table_says_which_tests_take_minutes() -> None:
    said = {name: bool(star) for _, name, star in NAMED}
    assert said == {name: "mark.faults" in (marks_of(path, name) or "") for path, name, _ in NAMED}
