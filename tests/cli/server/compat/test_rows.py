"""Every row of the list of what clients rely on has a test, whose docstring names it."""

import re
from pathlib import Path

ROWS = {f"C{number}" for number in range(1, 29)}


def test_every_row_has_a_test() -> None:
    here = Path(__file__).parent
    named = {
        row
        for path in here.rglob("test_*.py")
        for row in re.findall(r'^    """(C\d+)"""$', path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert named == ROWS
