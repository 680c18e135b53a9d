"""Rows of runs: the part of them that a text already shows."""

import pytest

from terp_cli.terminal.rows import Graphic, Row, after_text, encode


def rows(*texts: str) -> list[Row]:
    return [((text, ""),) for text in texts]


@pytest.mark.parametrize(
    ("lines", "text", "left"),
    [
        (["one two", "three"], "onetwo", ["three"]),
        (["one two three", "four"], "onetwo", ["three", "four"]),
        (["one"], "onetwo", []),
        (["• one two", "  three four"], "•onetwothree", ["  four"]),
        (["one two"], "", ["one two"]),
        # Marks that have become a style, and a rule that has become longer.
        (["one two three"], "**onetwo", ["three"]),
        (["one", "─────", "two"], "one───two", []),
        (["", "one", "", "two"], "one", ["", "two"]),
        # Another text begins where it differs.
        (["one two", "three"], "onetwelve", ["two", "three"]),
        (["other"], "one", ["other"]),
        (["two"], "one", ["two"]),
    ],
)
def test_rows_begin_after_the_text_that_is_shown(lines: list[str], text: str, left: list[str]) -> None:
    begun, rest, _ = after_text(rows(*lines), text)
    assert ["".join(text for text, _ in row) for row in [*rest, *rows(*lines)[begun:]]] == left


def test_text_that_the_rows_do_not_have_yet_is_left() -> None:
    assert after_text(rows("one two"), "onetwothree") == (1, [], "three")


def test_the_rest_of_a_row_keeps_its_styles() -> None:
    row = (("one ", "1"), ("two ", ""), ("three", "3"))
    assert after_text([row], "onetw") == (1, [(("o ", ""), ("three", "3"))], "")


def test_a_picture_ends_the_text_that_is_shown() -> None:
    picture = Graphic(1, 11, "(a picture)\r\n")
    assert after_text([*rows("one"), picture], "onetwo") == (1, [], "")


def test_a_link_is_opened_once_and_closed_at_the_end_of_the_row() -> None:
    row = (("see ", ""), ("a", "4|https://x.org"), ("b", "1|https://x.org"))
    assert encode(row) == ("see \x1b]8;;https://x.org\x1b\\\x1b[4ma\x1b[;1mb\x1b]8;;\x1b\\\x1b[m")
