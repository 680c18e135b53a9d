"""A check as each front end tells it."""

from terp import events as on
from terp.store.export.story import Prompt, Remark
from tests.cli.drawing import drawn
from tests.cli.fronts.test_plain import shown
from tests.cli.fronts.test_spoken import heard
from tests.core.store.export.scripted import told

CHECK: list[on.Event] = [
    on.CheckStarted("pytest -q", 2),
    on.CheckFinished(2, False, 1, "It ended with exit status 1.", "1 failed\n", 0.5, ("test_a.py",), 3),
]
PASSED: list[on.Event] = [on.CheckStarted("pytest -q", 1), on.CheckFinished(1, True, 0, "", "ok\n", 0.54)]
HOW = (
    "The check has not passed. It ended with exit status 1. Files of the check: changed test_a.py. "
    "The originals were used. The model is asked again, 3 times at most."
)


def test_a_terminal_shows_the_output_and_how_it_ended() -> None:
    assert drawn(CHECK) == [
        "Checking again (2): pytest -q",
        "1 failed",
        "The check has not passed. It ended with exit status 1. Files of the check:",
        "changed test_a.py. The originals were used. The model is asked again, 3 times at",
        "most.",
    ]
    assert drawn(PASSED) == ["Checking: pytest -q", "ok", "The check has passed, after 0.5 s."]


def test_files_that_are_not_as_before_are_told_with_both_results() -> None:
    results = ("With the original files alone: 2 of 2 tests passed.",)
    event = on.CheckFinished(1, True, 0, "", "", 0.5, (), None, ("test_b.py",), ("test_c.py",), results)
    assert heard([event]) == [
        "The check has passed, after 0.5 s. Files of the check: missing test_b.py; new test_c.py. "
        "With the original files alone: 2 of 2 tests passed."
    ]


def test_a_terminal_shows_the_end_of_long_output() -> None:
    output = "".join(f"line {number}\n" for number in range(30))
    rows = drawn([on.CheckFinished(1, False, 1, "Why.", output)])
    assert rows[:3] == ["[… 18 lines above …]", "line 18", "line 19"]


def test_plain_text_has_labels() -> None:
    assert shown(CHECK) == ("", f"[check] Checking again (2): pytest -q\n1 failed\n[check] {HOW}\n")


def test_it_is_said() -> None:
    assert heard(CHECK)[:2] == ["Checking again (2): pytest -q", "1 failed"]
    assert " ".join(heard(CHECK)[2:]) == HOW


def test_an_export_says_that_it_has_passed() -> None:
    parts = told(on.TurnStarted("go"), *PASSED, *CHECK).parts
    assert parts == (Prompt("go"), Remark("The check has passed: pytest -q"))
