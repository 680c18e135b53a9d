"""Values that terp has put into an answer, as they are drawn."""

from collections.abc import Sequence

import pytest
from rich.text import Text

from terp.events import Event, TextDelta, TurnFinished
from terp_cli.render import look
from terp_cli.render.transcript import DrawnTranscript
from tests.cli.drawing import Clock


def drawn(*deltas: TextDelta) -> Sequence[Text]:
    transcript = DrawnTranscript(lambda: 40, lambda: 12, Clock())
    events: list[Event] = [*deltas, TurnFinished("done", "")]
    rows = [row for event in events for row in transcript.show(event)]
    return [row for row in rows if isinstance(row, Text) and row.plain.strip()]


def around(before: str, after: str, value: str = "42") -> list[str]:
    return [row.plain for row in drawn(TextDelta(before), TextDelta(value, "{{n}}"), TextDelta(after))]


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        ("It is ", ".", ["It is ‹42›."]),
        ("It is **", "**.", ["It is ‹42›."]),
        ("# All ", "\n\nb", ["All ‹42›", "b"]),
        ("- a ", "\n- b", ["• a ‹42›", "• b"]),
        ("> a ", "\n", ["│ a ‹42›"]),
        ("[so ", "](http://h)", ["so ‹42› (http://h)"]),
        ("| a | b |\n|---|---|\n| x | ", " |\n", ["a   b", "────────", "x   ‹42›"]),
        ("It is $n = ", "$.", ["It is n = ‹42›."]),
        ("    indented ", "\n", ["indented ‹42›"]),
        ("<div>", "\n", ["<div>‹42›"]),
    ],
)
def test_a_value_is_in_brackets_wherever_it_stands(before: str, after: str, rows: list[str]) -> None:
    assert [row.rstrip() for row in around(before, after)] == rows


def test_the_brackets_are_faint_and_the_value_looks_like_the_text() -> None:
    (row,) = drawn(TextDelta("a "), TextDelta("42", "{{n}}"))
    marked = [row.plain[span.start : span.end] for span in row.spans if span.style == look.DIM]
    assert marked == ["‹", "›"]


def test_the_model_cannot_write_the_marks_itself() -> None:
    (row,) = drawn(TextDelta("a \ufdd042\ufdd1"))
    assert row.plain == "a \ufffd42\ufffd"


def test_a_value_does_not_become_markup() -> None:
    assert around("It is ", ".", r"\*so\* \[a\](b)") == ["It is ‹*so* [a](b)›."]
