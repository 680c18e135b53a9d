import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from terp_cli.terminal.program_text import Ink, Line, ProgramText
from tests.cli.screens import cut

PIECES = [
    "plain ",
    "\n",
    "\r",
    "\b",
    "\t",
    "\x1b",
    "\x1b[31m",
    "\x1b[0m",
    "\x1b[1;38;5;200m",
    "\x1b[8mhidden",
    "\x1b[K",
    "\x1b[2K",
    "\x1b[2J",
    "\x1b[999C",
    "\x1b]0;title\x07",
    "\x1b]52;c;aGk=\x1b\\",
    "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
    "\x1bPq#0\x1b\\",
    "\x1b]unfinished",
    "\x1b[12",
    "\x1b(B",
    "\x9b31m",
    "\x90x\x9c",
    "\u202e",
    "👩\u200d",
    "👧",
    "x" * 300,
    "\x1b[A",
    "\x1b[2B",
    "\x1b[F",
    "\x1b[3C",
    "\x1b[5G",
    "\x1b[2D",
    "\x1b[1K",
    "\x1b[J",
    "漢字",
    "e\u0301",
    "\u0301",
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=25).map("".join)
HOSTILE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def lines_of(chunks: list[str], window: int = 0) -> list[Line]:
    text = ProgramText(window)
    return [line for chunk in chunks for line in text.feed(chunk)] + text.finish()


def plain(line: Line) -> str:
    return "".join(run for run, _ in line)


@settings(max_examples=300)
@example("plain \x1b[F\x9b31m", [1], 0)
@given(texts, st.lists(st.integers(1, 12), min_size=1, max_size=6), st.integers(0, 8))
def test_lines_do_not_depend_on_how_output_was_cut(text: str, sizes: list[int], window: int) -> None:
    assert lines_of(cut(text, sizes), window) == lines_of([text], window)


@given(texts, st.lists(st.integers(1, 12), min_size=1, max_size=6))
def test_no_hostile_character_passes(text: str, sizes: list[int]) -> None:
    assert HOSTILE.findall("".join(plain(line) for line in lines_of(cut(text, sizes), 8))) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("10%\r20%\r100%\n", ["100%"]),
        ("abc\rX\n", ["Xbc"]),
        ("abc\r\x1b[KX\n", ["X"]),
        ("12\b\b3\n", ["32"]),
        ("a\r\nb", ["a", "b"]),
        ("\x1b]0;you are owned\x07ok\n", ["ok"]),
        ("\x1b]52;c;c2VjcmV0\x1b\\ok\n", ["ok"]),
        ("\x1b]never ends\nok\n", ["", "ok"]),
        ("\x1b[2J\x1b[Hok\n", ["ok"]),
        ("\x1bcok\n", ["ok"]),
        ("\x9b2Jok\n", ["<U+009B>2Jok"]),
        ("bell\x07\n", ["bell^G"]),
        ("\x1b[12", ["^[[12"]),
    ],
)
def test_a_line_looks_as_a_terminal_would_leave_it_without_obeying(text: str, shown: list[str]) -> None:
    assert [plain(line) for line in lines_of([text])] == shown


@pytest.mark.parametrize(
    ("sequence", "ink"),
    [
        ("31", Ink(colour=1)),
        ("1;92", Ink(colour=10, bold=True)),
        ("38;5;200", Ink(colour=200)),
        ("48;2;1;2;3", Ink(background=(1, 2, 3))),
        ("38:2::9:8:7", Ink(colour=(9, 8, 7))),
        ("4:3", Ink(underline=True)),
        ("31;0", Ink()),
        ("8", Ink()),
        ("5", Ink()),
        ("31;41", Ink(colour=1)),
        ("38;5", Ink()),
        ("38;5;999", Ink()),
        ("²", Ink()),
    ],
)
def test_only_harmless_ink_is_used(sequence: str, ink: Ink) -> None:
    assert Ink().after(sequence) == ink


def test_colour_goes_on_after_a_line_ends() -> None:
    assert lines_of(["\x1b[32ma\nb\x1b[0m\n"]) == [(("a", Ink(colour=2)),), (("b", Ink(colour=2)),)]


def test_a_line_without_end_is_cut_with_a_count() -> None:
    assert plain(lines_of(["x" * 10_000])[0]) == "x" * 4_000 + " … 6,000 more characters"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        # Two bars of tqdm, one within the other.
        ("\router 0/2\n\rinner 0/9\x1b[A\n\rinner 9/9\x1b[A\router 1/2\n\n", ["outer 1/2", "inner 9/9"]),
        # A live display of rich, drawn twice.
        (
            "a 10%\nb 20%\r\x1b[2K\x1b[1A\x1b[2Ka 50%\nb 60%\n",
            ["a 50%", "b 60%"],
        ),
        ("one\ntwo\n\x1b[2A\x1b[JX\n", ["X"]),
        ("one\n\x1b[99Atop\n", ["top"]),
        ("ok\x1b[10Gfar\n", ["ok       far"]),
        ("ok\x1b[9999Gfar\n", ["okfar"]),
        ("漢字\ra\n", ["a 字"]),
        ("e\u0301x\rab\n", ["ab"]),
        ("a\tb\rX\n", ["X       b"]),
        ("abcd\b\b\x1b[1KX\n", ["  Xd"]),
    ],
)
def test_a_program_may_write_its_last_lines_again(text: str, shown: list[str]) -> None:
    assert [plain(line) for line in lines_of([text], window=8)] == shown


def test_a_program_cannot_reach_lines_above_its_last_ones() -> None:
    text = "".join(f"{at}\n" for at in range(5)) + "\x1b[9AX\n"
    assert [plain(line) for line in lines_of([text], window=2)] == ["0", "1", "2", "X", "4"]


def test_lines_of_stderr_have_a_mark_and_never_end_in_lines_of_stdout() -> None:
    text = ProgramText(8)
    text.feed("half")
    text.feed("oops\n", is_error=True)
    text.feed("done\n")
    assert [plain(line) for line in text.finish()] == ["half", "┆ oops", "done"]


def test_a_colour_of_stderr_stays_there() -> None:
    text = ProgramText()
    text.feed("\x1b[31m", is_error=True)
    assert text.feed("plain\n") == [(("plain", Ink()),)]
