"""Text in the colours of a theme."""

import pytest
from rich.color import ColorSystem
from rich.style import Style
from rich.text import Text

from terp_cli.render import look
from terp_cli.render.ansi import Palette, text_of
from terp_cli.terminal.program_text import Ink
from terp_cli.terminal.terminal_facts import Background
from terp_cli.terminal.theme import theme_of

XTERM = {"TERM": "xterm-256color"}


def drawn(text: Text, theme: str) -> str:
    palette = Palette(ColorSystem.EIGHT_BIT, lambda: theme_of(theme, "unknown", XTERM))
    return "|".join(sgr for _, sgr in palette.row(text))


def test_the_colours_of_programs_stay_as_they_are() -> None:
    line = Text.assemble(text_of([("theirs", Ink(colour=3))]), ("ours", look.MARKER))
    assert drawn(line, "light") == "33|38;5;94"


def test_a_style_that_is_named_is_drawn() -> None:
    assert drawn(Text.assemble(("/help", "bold"), " about"), "dark") == "1|"
    assert drawn(Text("/help", "dim"), "dark") == "2"


def test_without_colours_weight_and_slant_are_left() -> None:
    assert drawn(Text("x", Style(color="red", bgcolor="blue", bold=True, italic=True)), "none") == "1;3"


def test_a_terminal_that_answers_late_changes_what_is_drawn_next() -> None:
    answers: list[Background] = ["dark", "dark", "light"]
    palette = Palette(ColorSystem.EIGHT_BIT, lambda: theme_of("auto", answers.pop(0), XTERM))
    rows = [palette.row(Text("x", look.MARKER)) for _ in range(2)]
    assert rows == [(("x", "33"),), (("x", "38;5;94"),)]


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("https://x.org/a b?c=d", "https://x.org/a%20b?c=d"),
        ("http://x.org/\x1b]8;;", "http://x.org/%1B]8;;"),
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
    ],
)
def test_only_addresses_of_the_web_and_of_mail_are_links(address: str, target: str | None) -> None:
    assert look.linked(look.PLAIN, address).link == target


def test_a_terminal_without_links_gets_none() -> None:
    text = Text("x", look.linked(look.LINK, "https://x.org"))
    rows = [Palette(ColorSystem.STANDARD, links=links).row(text) for links in (True, False)]
    assert rows == [(("x", "4|https://x.org"),), (("x", "4"),)]
