"""What a run did to data, as lines."""

from terp.events.changes import delta_line, delta_words
from terp.events.outputs import VariableChange

CHANGES = [
    VariableChange(
        "df", "changed", "DataFrame", (714, 12), 9, "891×12", "714×12", ("Age: 177 nulls dropped",)
    ),
    VariableChange("model", "changed", "Ridge", facts=("fitted",)),
    VariableChange("total", "changed", "int", (), 28, "41,000", "1,000"),
    VariableChange("other", "new", "Ridge", facts=("fitted",)),
]


def test_the_line_has_before_after_and_further_facts() -> None:
    assert delta_line(CHANGES) == (
        "~df 891×12 → 714×12 · Age: 177 nulls dropped · ~model: fitted · ~total 41,000 → 1,000"
        " · +other Ridge: fitted"
    )


def test_a_screen_reader_gets_words() -> None:
    assert delta_words(CHANGES) == (
        "changed df 891×12 to 714×12, Age: 177 nulls dropped; changed model: fitted; "
        "changed total 41,000 to 1,000; new other Ridge: fitted"
    )
