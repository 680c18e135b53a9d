"""The message that stands for what a model no longer reads."""

from hypothesis import given
from hypothesis import strategies as st

from terp.events.messages import User
from terp.session.context.summary import Listing, Summary, summary_message


def test_words_notes_and_facts_each_have_their_place() -> None:
    facts = (Listing("Files that runs have left:", ["a.csv (created)"]), Listing("No kernel runs."))
    assert summary_message(["sum [\n1,\n2\n]", "b"], Summary("All is well.", facts), 1000) == User(
        "[What came before is shortened here.\n"
        "The person said, in their own words:\n"
        "- sum [\n1,\n2\n]\n"
        "- b\n"
        "\n"
        "Your notes of it:\n"
        "All is well.\n"
        "\n"
        "Files that runs have left: a.csv (created).\n"
        "No kernel runs.]",
        said=("sum [\n1,\n2\n]", "b"),
    )


def test_without_words_and_notes_only_facts_are_told() -> None:
    summary = summary_message([], Summary("", [Listing("No kernel runs.")]), 1000)
    assert summary.text == "[What came before is shortened here.\n\nNo kernel runs.]"
    assert summary.said


def test_of_too_many_words_the_first_and_the_last_ones_are_shown() -> None:
    said = [f"do thing {number} " * 10 for number in range(100)]
    summary = summary_message(said, Summary(), 400)
    assert "- do thing 0 do" in summary.text
    assert "more …]\n- do thing 9" in summary.text
    assert "- do thing 99 do" in summary.text
    assert summary.said == tuple(said)


def test_a_list_that_is_too_long_says_how_many_are_missing() -> None:
    listing = Listing("Variables:", [f"column_{number} (int)" for number in range(100)])
    assert "column_0 (int); column_1 (int)" in (text := summary_message([], Summary("", [listing]), 400).text)
    assert text.endswith(" more.]")


@given(
    st.lists(st.text(max_size=2000), max_size=200),
    st.text(max_size=20_000),
    st.lists(st.text(max_size=80), max_size=500),
    st.floats(0, 10_000),
)
def test_it_is_bounded_whatever_it_tells(said: list[str], notes: str, names: list[str], room: float) -> None:
    summary = summary_message(said, Summary(notes, [Listing("A:", names), Listing("B:", names)]), room)
    assert len(summary.text) <= max(1_200, room * 2) * 1.5 + 600
