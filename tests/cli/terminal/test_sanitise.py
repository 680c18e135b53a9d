import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp_cli.terminal.sanitise import one_line, readable, visible

HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
anything = st.text(
    st.one_of(
        st.characters(), st.characters(codec=None), st.sampled_from("\x1b\x9b\u202e\u200d\ufe0f\x07👩❤1a")
    )
)


@given(anything)
def test_nothing_hostile_passes_in_either_mode(text: str) -> None:
    assert [HOSTILE.findall(shown(text)) for shown in (visible, readable, one_line)] == [[], [], []]


@given(anything)
def test_what_is_safe_already_is_left_alone(text: str) -> None:
    assert (visible(visible(text)), readable(readable(text))) == (visible(text), readable(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "^[[31mred"),
        ("a\x7fb\x00", "a^?b^@"),
        ("\x9b31m", "<U+009B>31m"),
        ("if admin\u202e", "if admin<U+202E>"),
        ("pass\u200bword", "pass<U+200B>word"),
        ("\U000e0041", "<U+E0041>"),
        ("\udc80", "<U+DC80>"),
        ("a\nb\tc", "a\nb\tc"),
        ("❤\ufe0f", "❤<U+FE0F>"),
    ],
)
def test_code_shows_what_it_hides(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d👩\u200d👧 and 👩🏽\u200d💻",
        "❤\ufe0f and 1\ufe0f\u20e3",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "葛\U000e0100城",
        "naïve 漢字 ünï",
    ],
)
def test_writing_keeps_what_it_needs(text: str) -> None:
    assert readable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ad\u200dmin", "ad<U+200D>min"),
        ("a\ufe0f", "a<U+FE0F>"),
        ("1\ufe0f", "1<U+FE0F>"),
        ("👩\u200d\u200d👧", "👩<U+200D><U+200D>👧"),
        ("\u0645\u200ca", "\u0645<U+200C>a"),
        ("🏴\U000e0067", "🏴<U+E0067>"),
    ],
)
def test_joiners_where_nothing_joins_are_spelled_out(text: str, shown: str) -> None:
    assert readable(text) == shown


def test_a_name_stays_on_one_line() -> None:
    assert one_line("a\nb\tc\r") == "a^Jb^Ic^M"
