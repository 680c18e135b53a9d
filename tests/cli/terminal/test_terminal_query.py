"""What terminals answer, and what people type meanwhile."""

import re
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp_cli.terminal.terminal_facts import Replies, TerminalFacts, is_multiplexed, query
from tests.cli.screens import cut

KITTY = "\x1b_Gi=31;OK\x1b\\"
ATTRIBUTES = "\x1b[?62;4;22c"
# As these terminals answer the whole query, in their order.
TERMINALS = {
    "kitty": (
        KITTY + "\x1b[?2026;2$y\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[6;20;10t\x1b[?62;52;c",
        TerminalFacts(kitty=True, synchronised=True, background="dark", cell_width=10, cell_height=20),
    ),
    "foot": (
        "\x1b[?2026;2$y\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[6;17;8t\x1b[?62;4;22;28c",
        TerminalFacts(sixel=True, synchronised=True, background="light", cell_width=8, cell_height=17),
    ),
    "xterm": (
        "\x1b[?2026;0$y\x1b]11;rgb:0000/0000/0000\x07\x1b[6;13;6t\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c",
        TerminalFacts(background="dark", cell_width=6, cell_height=13),
    ),
    "tmux": ("\x1b[?1;2c", TerminalFacts()),
    "one that knows the question but not the protocol": (
        "\x1b_Gi=31;ENOTSUPPORTED:no pictures\x1b\\\x1b[?6c",
        TerminalFacts(),
    ),
    "a VT340, whose class is no attribute": ("\x1b[?4;6c", TerminalFacts()),
    "one with short colours": ("\x1b]11;rgb:f/f/e\x1b\\\x1b[?62c", TerminalFacts(background="light")),
    "one with names of colours": ("\x1b]11;#ffffff\x1b\\\x1b[?62c", TerminalFacts()),
}
# None of these is an answer to our questions, though some begin like one.
KEYS = [
    "a", "ü", "漢", "\r", "\x03", "\t", "?", "c", "62;4c", "\\",
    "\x1b[A", "\x1b[1;5C", "\x1bOP", "\x1b[15~", "\x1b[6~", "\x1b[6;5~", "\x1b[I", "\x1b[O",
    "\x1b[200~two words\x1b[201~", "\x1b[<0;1;1M", "\x1b[97;5u", "\x1bx", "\x1b[24;80R", "\x1b[?1u",
    "\x1b[?2004;1$y", "\x1b]4;1;rgb:0/0/0\x1b\\", "\x1bP1$r0m\x1b\\",
]  # fmt: skip


def fed(pieces: list[str]) -> tuple[Replies, str]:
    replies = Replies()
    keys = "".join(replies.feed(piece) for piece in pieces)
    return replies, keys + replies.release()


@pytest.mark.parametrize("size", [1, 3, 1_000])
@pytest.mark.parametrize("name", TERMINALS)
def test_a_terminal_is_understood_however_its_answers_are_cut(name: str, size: int) -> None:
    answers, facts = TERMINALS[name]
    replies, keys = fed(cut(answers, [size]))
    assert (replies.facts, replies.facts.complete, keys) == (facts, True, "")


def test_a_terminal_that_answers_nothing_tells_nothing() -> None:
    replies, keys = fed(["l", "s", "\r"])
    assert (replies.facts, replies.facts.complete, keys) == (TerminalFacts(), False, "ls\r")


def test_a_lone_escape_is_held_until_it_is_released() -> None:
    replies = Replies()
    assert (replies.feed("\x1b"), replies.release(), replies.release()) == ("", "\x1b", "")


def test_escape_twice_holds_the_second_only() -> None:
    replies = Replies()
    assert (replies.feed("\x1b\x1b"), replies.release()) == ("\x1b", "\x1b")


@pytest.mark.parametrize("key", KEYS)
def test_a_key_that_comes_in_one_piece_is_not_held(key: str) -> None:
    replies = Replies()
    assert (replies.feed(key), replies.release()) == (key, "")


def test_nothing_is_held_once_the_last_answer_has_come() -> None:
    replies = Replies()
    replies.feed(ATTRIBUTES)
    assert (replies.feed("\x1b"), replies.feed("\x1b["), replies.release()) == ("\x1b", "\x1b[", "")


def test_an_answer_that_comes_after_the_last_one_is_no_key() -> None:
    replies = Replies()
    assert replies.feed(f"a{ATTRIBUTES}b{KITTY}c") == "abc"
    assert replies.facts == TerminalFacts(kitty=True, sixel=True)


def test_an_answer_that_comes_after_a_pause_is_no_key() -> None:
    replies = Replies()
    held = replies.feed("\x1b") + replies.release()
    assert (held, replies.feed(ATTRIBUTES), replies.facts.complete) == ("\x1b", "", True)


def test_an_answer_without_an_end_gives_way_to_keys() -> None:
    replies = Replies()
    endless = "\x1b]11;rgb:" + "0" * 100
    assert replies.feed(endless) == endless


typed = st.lists(
    st.one_of(st.sampled_from(KEYS), st.text(st.characters(exclude_characters="\x1b"), max_size=5))
)


@given(
    st.sampled_from(list(TERMINALS)),
    st.lists(typed, min_size=6, max_size=6),
    st.lists(st.integers(1, 7), min_size=1),
)
def test_keys_between_answers_come_out_unchanged_and_in_order(
    name: str, between: list[list[str]], sizes: list[int]
) -> None:
    answers = re.split(r"(?<=[\\cyt\x07])(?=\x1b[^\\])", TERMINALS[name][0])
    pieces = ["".join(keys) for keys in between]
    text = "".join(keys + answer for keys, answer in zip_longest(pieces, answers, fillvalue=""))
    replies, keys = fed(cut(text, sizes))
    assert (replies.facts, keys) == (TERMINALS[name][1], "".join(pieces))


@given(st.text("\x1b[]?_G6;1\\c3=i$y2t0", max_size=40), st.lists(st.integers(1, 5), min_size=1))
def test_the_keys_do_not_depend_on_how_they_were_cut(text: str, sizes: list[int]) -> None:
    assert fed(cut(text, sizes))[1] == fed([text])[1]


XTERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize("term", ["", "dumb", "unknown", "linux"])
def test_a_terminal_that_would_print_the_questions_is_not_asked(term: str) -> None:
    assert query({"TERM": term}) == ""


def test_every_query_ends_with_what_every_terminal_answers() -> None:
    environments = [XTERM, {**XTERM, "TMUX": "x"}, {**XTERM, "TERM_PROGRAM": "Apple_Terminal"}]
    assert [query(environ).endswith("\x1b[c") for environ in environments] == [True] * 3


@pytest.mark.parametrize(
    "environ",
    [{"TERM": "tmux-256color"}, {"TERM": "screen"}, {**XTERM, "STY": "1.x"}, {**XTERM, "ZELLIJ": "0"}],
)
def test_a_multiplexer_is_not_asked_for_kittys_pictures(environ: dict[str, str]) -> None:
    assert is_multiplexed(environ)
    assert "\x1b_" not in query(environ)
