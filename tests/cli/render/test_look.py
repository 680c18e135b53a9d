"""Colours that can be read on the ground they are seen on."""

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style
from rich.text import Text

from terp_cli.render import look
from terp_cli.render.ansi import Palette, text_of
from terp_cli.terminal.program_text import Ink

GROUNDS = {"dark": (0, 0, 0), "light": (255, 255, 255)}
# As xterm draws the first eight of its colours.
XTERM = {
    "yellow": (205, 205, 0),
    "green": (0, 205, 0),
    "cyan": (0, 205, 205),
    "magenta": (205, 0, 205),
    "red": (205, 0, 0),
    "blue": (0, 0, 238),
}


def luminance(colour: tuple[int, ...]) -> float:
    red, green, blue = (
        part / 12.92 if (part := value / 255) <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for value in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("ground", ["dark", "light"])
@pytest.mark.parametrize("name", XTERM)
def test_every_colour_can_be_read_on_its_ground(ground: str, name: str) -> None:
    shown = look.theme_of(ground, "unknown", {}).names.get(name, name)
    colour = XTERM.get(shown) or tuple(Color.parse(shown).get_truecolor())
    assert contrast(colour, GROUNDS[ground]) >= 4.5


@pytest.mark.parametrize(
    ("setting", "background", "environ", "like"),
    [
        ("auto", "light", {}, "light"),
        ("auto", "dark", {"COLORFGBG": "0;15"}, "dark"),
        ("auto", "unknown", {"COLORFGBG": "0;15"}, "light"),
        ("auto", "unknown", {"COLORFGBG": "12;8"}, "dark"),
        ("dark", "light", {}, "dark"),
    ],
)
def test_the_ground_is_told_by_the_setting_the_terminal_or_the_environment(
    setting: str, background: look.Ground, environ: dict[str, str], like: str
) -> None:
    assert look.theme_of(setting, background, environ) == look.theme_of(like, "unknown", {})


def drawn(text: Text, theme: str) -> str:
    palette = Palette(ColorSystem.EIGHT_BIT, lambda: look.theme_of(theme, "unknown", {}))
    return "|".join(sgr for _, sgr in palette.row(text))


def test_the_colours_of_programs_stay_as_they_are() -> None:
    line = Text.assemble(text_of([("theirs", Ink(colour=3))]), ("ours", look.MARKER))
    assert drawn(line, "light") == "33|38;5;94"


def test_without_colours_weight_and_slant_are_left() -> None:
    assert drawn(Text("x", Style(color="red", bgcolor="blue", bold=True, italic=True)), "none") == "1;3"


def test_a_terminal_that_answers_late_changes_what_is_drawn_next() -> None:
    answers: list[look.Ground] = ["unknown", "unknown", "light"]
    palette = Palette(ColorSystem.EIGHT_BIT, lambda: look.theme_of("auto", answers.pop(0), {}))
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
