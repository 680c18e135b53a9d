"""Tables on a terminal of 80 by 24, as they stream."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from terp_cli.render.markdown.markdown import MarkdownStream
from tests.cli.screens import Terminal, cut, stream

HEAD = "| kind | rows |\n|---|--:|\n"


def shown(markdown: str, columns: int = 80, sizes: tuple[int, ...] = (7,)) -> list[str]:
    terminal = Terminal(columns, 24)
    stream(terminal, cut(markdown, sizes))
    return terminal.shown()


def rows_of(count: int) -> str:
    return "".join(f"| kind {at} | {at * 10} |\n" for at in range(count))


def test_a_table_of_twenty_rows_is_laid_out_as_a_whole() -> None:
    assert shown(HEAD + rows_of(20) + "\nEnd.") == [
        "kind      rows",
        "──────────────",
        *(f"kind {at:<2}   {at * 10:>4}" for at in range(20)),
        "",
        "End.",
    ]


def test_rows_after_the_first_screen_keep_its_columns() -> None:
    table = shown(HEAD + rows_of(60) + "\nEnd.")
    assert table[2:] == [*(f"kind {at:<2}   {at * 10:>4}" for at in range(60)), "", "End."]


def test_a_longer_word_in_a_later_row_makes_its_column_wider() -> None:
    table = shown(HEAD + rows_of(40) + "| everything | 1000000 |\n| kind 7 | 70 |\n")
    assert table[-2:] == ["everything   1000000", "kind 7            70"]


def test_a_cell_without_room_is_wrapped_and_numbers_stay_whole() -> None:
    long = "words that are long enough to need two rows of it"
    table = "| what | sum |\n|---|--:|\n" + f"| {long} | 1 |\n" * 30 + "| x | 123456 |\n"
    assert shown(table, 50)[-3:] == [
        "words that are long enough to need two rows      1",
        "of it",
        "x                                           123456",
    ]


def test_in_a_narrow_window_a_table_without_room_is_a_block_a_row() -> None:
    assert shown("| what | sum |\n|---|--:|\n| some words that are long | 1 |\n| x | 2 |\n", 24) == [
        "what: some words that",
        "are long",
        "sum: 1",
        "",
        "what: x",
        "sum: 2",
    ]


def test_columns_too_narrow_to_read_become_lines() -> None:
    names = [f"column{at}" for at in range(14)]
    table = f"|{'|'.join(names)}|\n|{'---|' * 14}\n" + f"|{'|'.join('0123456789abcd')}|\n" * 2
    lines = [f"{name}: {value}" for name, value in zip(names, "0123456789abcd", strict=True)]
    assert shown(table) == [*lines, "", *lines]


def test_many_columns_that_fit_stay_columns() -> None:
    assert shown(f"|{'a|' * 14}\n|{'---|' * 14}\n|{'1|' * 14}\n")[::2] == [
        "   ".join("a" * 14),
        "   ".join("1" * 14),
    ]


def test_text_after_a_fence_is_no_row_of_the_table_before_it() -> None:
    assert shown(HEAD + rows_of(40) + "```\ncode\n```\nhello\n")[-3:] == ["code", "", "hello"]


@pytest.mark.parametrize("line", ["# Heading", "> quoted", "- item", "---"])
def test_what_ends_a_long_table_is_no_row_of_it(line: str) -> None:
    assert shown(HEAD + rows_of(40) + line + "\n")[-2] == ""


@settings(max_examples=30)
@given(
    st.lists(
        st.lists(st.sampled_from(["a", "two words", "漢字", "", "x" * 30, "`c`"]), min_size=3, max_size=3)
    ),
    st.integers(20, 100),
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
)
def test_no_row_is_wider_than_the_terminal_however_it_was_cut(
    rows: list[list[str]], columns: int, sizes: list[int]
) -> None:
    table = "| a | b | c |\n|:-:|---|--:|\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows * 8)
    whole, pieces = (MarkdownStream(lambda: columns, lambda: 12) for _ in range(2))
    drawn = [row.plain for piece in cut(table, sizes) for row in pieces.feed(piece)]
    drawn += [row.plain for row in pieces.finish()]
    assert drawn == [row.plain for row in (*whole.feed(table), *whole.finish())]
    assert max(cell_len(row) for row in drawn) <= columns


def test_a_table_keeps_its_columns_in_a_window_that_becomes_narrower() -> None:
    columns = 80
    markdown = MarkdownStream(lambda: columns, lambda: 20)
    head = "| some words in a head | other words in a head |\n|---|---|\n"
    markdown.feed(head + "| one | two |\n")
    before = [row.plain for row in markdown.tail(20)]
    columns = 30
    markdown.feed("| three | four |\n")
    assert [row.plain for row in markdown.tail(20)][:3] == before
