import pytest

from terp.events.outputs import VariableChange
from terp.session.runs import without_passing


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("from math import sqrt\nfor n in range(3):\n    total = sqrt(n)", ["total"]),
        ("import os.path as total\nfor n, sqrt in pairs: pass\nn = 0", ["n"]),
        ("%matplotlib inline\nfor total in [1]: pass", ["sqrt", "n"]),
        ("not python (", ["sqrt", "n", "total"]),
    ],
)
def test_names_that_code_only_imports_or_loops_with_are_passed_over(code: str, told: list[str]) -> None:
    changes = [VariableChange(name, "new", "int") for name in ("sqrt", "n", "total")]
    assert [change.name for change in without_passing(changes, "python", code)] == told


def test_removed_names_and_those_of_other_languages_are_told() -> None:
    removed, new = VariableChange("n", "removed"), VariableChange("n", "new", "int")
    assert without_passing([removed], "python", "for n in x: pass\ndel n") == (removed,)
    assert without_passing([new], "ruby", "for n in x: pass") == (new,)
