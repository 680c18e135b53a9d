"""The code of a call, while it is written and when it is asked about."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events import CodeDelta, Event, TurnFinished
from terp_cli.render.code import CallCode
from terp_cli.render.transcript import DrawnTranscript
from tests.cli.drawing import Clock, proposed
from tests.cli.screens import cut


def rows(chunks: Sequence[str], *, width: int = 40, most: int = 0) -> list[str]:
    code = CallCode("python", lambda: width, most)
    return [row.plain for chunk in chunks for row in code.feed(chunk)] + [row.plain for row in code.finish()]


def tail(text: str, *, most: int = 0) -> list[str]:
    code = CallCode("python", lambda: 40, most)
    code.feed(text)
    return [row.plain for row in code.tail(8)]


def lines(count: int) -> str:
    return "".join(f"x{at}\n" for at in range(1, count + 1))


def test_lines_have_numbers() -> None:
    assert rows(["a = 1\n\nb = 2"]) == ["  1 │ a = 1", "  2 │ ", "  3 │ b = 2"]


def test_a_long_line_goes_on_below_without_a_number() -> None:
    assert rows(["x = 1234567890\ny"], width=14) == ["  1 │ x = 1234", "    │ 567890", "  2 │ y"]


def test_numbers_of_four_digits_make_the_margin_wider() -> None:
    assert rows([lines(1_000)])[998:] == ["999 │ x999", "1000 │ x1000"]


def test_code_that_is_a_little_longer_than_fits_is_not_folded() -> None:
    assert len(rows([lines(13)], most=10)) == 13


def test_longer_code_is_folded_and_counted() -> None:
    assert rows([lines(14)], most=10) == [*rows([lines(10)]), "… 4 lines not shown"]


def test_one_line_that_is_too_long_is_cut_and_said_to_be() -> None:
    assert rows(["x" * 200], width=16, most=4) == [
        "  1 │ xxxxxxxxxx",
        *["    │ xxxxxxxxxx"] * 3,
        "… the rest of line 1 not shown",
    ]


def test_what_follows_a_line_that_is_cut_is_counted() -> None:
    assert rows(["a\n" + "x" * 200 + "\nb\nc"], width=16, most=4)[-2:] == [
        "    │ xxxxxxxxxx",
        "… the rest of line 2 and 2 more lines not shown",
    ]


def test_the_tail_counts_on_while_code_is_written() -> None:
    assert tail(lines(20) + "y", most=10) == ["… 11 more lines"]


def test_lines_that_may_be_folded_wait_in_the_tail() -> None:
    assert tail(lines(12) + "y", most=10) == [" 11 │ x11", " 12 │ x12", " 13 │ y"]


@given(
    st.text(st.sampled_from("ab ='\"#\n\n\n漢\t"), max_size=400),
    st.lists(st.integers(1, 30), min_size=1, max_size=6),
    st.integers(14, 60),
    st.integers(0, 12),
)
def test_code_looks_the_same_however_it_was_cut(code: str, sizes: list[int], width: int, most: int) -> None:
    assert rows(cut(code, sizes), width=width, most=most) == rows([code], width=width, most=most)


@given(st.text(st.sampled_from("ab =#\n\n"), max_size=300), st.integers(14, 60), st.integers(1, 12))
def test_every_line_is_shown_or_counted(code: str, width: int, most: int) -> None:
    whole, shown = rows([code], width=width), rows([code], width=width, most=most)
    if shown == whole:
        return
    *begun, count = shown
    numbered = sum(row[:3].strip().isdigit() for row in whole)
    begun_lines = sum(row[:3].strip().isdigit() for row in begun)
    left = numbered - begun_lines
    if "the rest of line" in count:
        more = f" and {left} more line{'s' if left > 1 else ''}" if left else ""
        expected = f"… the rest of line {begun_lines}{more} not shown"
    else:
        expected = f"… {left} line{'s' if left > 1 else ''} not shown"
    assert (begun, count) == (whole[: len(begun)], expected)


def transcript(*, asks: bool = True, screen: int = 24) -> DrawnTranscript:
    drawn = DrawnTranscript(lambda: 80, lambda: 8, Clock(), rows=lambda: screen)
    drawn.asks = asks
    return drawn


def shown(drawn: DrawnTranscript, events: Sequence[Event]) -> list[str]:
    return [str(row) for event in [*events, TurnFinished("done", "")] for row in drawn.show(event)]


@pytest.mark.parametrize(
    ("asks", "end"),
    [
        (True, ["… 16 lines not shown", "expected: computes only"]),
        (False, ["… 16 lines not shown"]),
    ],
)
def test_folded_code_offers_no_key(asks: bool, end: list[str]) -> None:
    code = lines(30)
    events: list[Event] = [*(CodeDelta("c1", "python", piece) for piece in cut(code, [7])), proposed(code)]
    told = shown(transcript(asks=asks), events)
    assert told[told.index(" 14 │ x14") + 1 :] == end


def test_all_of_the_code_can_be_shown() -> None:
    drawn = transcript()
    shown(drawn, [proposed(lines(30))])
    assert [row.plain for row in drawn.whole_code()] == ["── python", *rows([lines(30)])]


def test_there_is_no_code_before_the_first() -> None:
    assert transcript().whole_code() == []


def test_code_is_never_folded_where_the_screen_has_no_end() -> None:
    assert len(shown(transcript(screen=0), [proposed(lines(500))])) == 503
