"""Colours that can be read on the background they are seen on."""

import io
import re

import pytest
from prompt_toolkit.styles import Style

from terp_cli.prompt.prompt_app import STYLE
from terp_cli.terminal.bottom import Bottom
from terp_cli.terminal.guard import TerminalListener
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.terminal_facts import Background
from terp_cli.terminal.theme import Theme, theme_of

Colour = tuple[int, int, int]

GROUNDS: dict[Background, list[Colour]] = {"dark": [(0, 0, 0)], "light": [(255, 255, 255)]}
GROUNDS["unknown"] = GROUNDS["dark"] + GROUNDS["light"]
# As xterm draws its sixteen colours.
XTERM: list[Colour] = [
    *((0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205)),
    *((229, 229, 229), (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255)),
    *((255, 0, 255), (0, 255, 255), (255, 255, 255)),
]
NAMES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35", "cyan": "36"}
TERMINALS = ["xterm-256color", "screen"]
_STEPS = (0, 95, 135, 175, 215, 255)


def colours_in(sgr: str) -> list[Colour]:
    """The colours of text that SGR parameters set."""
    found: list[Colour] = [
        (_STEPS[at // 36], _STEPS[at // 6 % 6], _STEPS[at % 6])
        for at in (int(index) - 16 for index in re.findall(r"38;5;(\d+)", sgr))
    ]
    for code in (int(part) for part in re.sub(r"38;5;\d+", "", sgr).split(";") if part):
        found += [XTERM[code - 30]] if 30 <= code <= 37 else [XTERM[code - 82]] if 90 <= code <= 97 else []
    return found


def luminance(colour: Colour) -> float:
    red, green, blue = (
        part / 12.92 if (part := value / 255) <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for value in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", NAMES)
def test_every_colour_can_be_read_on_its_background(name: str, ground: Background, terminal: str) -> None:
    sgr = theme_of("auto", ground, {"TERM": terminal}).sgr.get(name, NAMES[name])
    assert all(contrast(colour, seen) >= 4.5 for colour in colours_in(sgr) for seen in GROUNDS[ground])


def bottom(theme: Theme) -> Bottom:
    """The renderer of the prompt in these colours."""
    painter = Painter(io.StringIO(), lambda: (80, 24))
    return Bottom(Style.from_dict(STYLE), painter, TerminalListener(), lambda: theme)


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", STYLE)
def test_every_style_of_the_prompt_can_be_read_on_its_background(
    name: str, ground: Background, terminal: str
) -> None:
    sgr = bottom(theme_of("auto", ground, {"TERM": terminal})).sgr(f"class:{name}")
    assert all(contrast(colour, seen) >= 4.5 for colour in colours_in(sgr) for seen in GROUNDS[ground])


@pytest.mark.parametrize(
    ("theme", "sgr"),
    [
        (theme_of("light", "unknown", {"TERM": "xterm-256color"}), "38;5;94"),
        (theme_of("dark", "unknown", {"TERM": "xterm-256color"}), "33"),
        (theme_of("none", "unknown", {"TERM": "xterm-256color"}), ""),
    ],
)
def test_the_prompt_has_the_colours_of_the_theme(theme: Theme, sgr: str) -> None:
    assert bottom(theme).sgr("class:warning") == sgr


@pytest.mark.parametrize(
    ("setting", "background", "environ", "like"),
    [
        ("auto", "light", {}, "light"),
        ("auto", "dark", {"COLORFGBG": "0;15"}, "dark"),
        ("auto", "unknown", {"COLORFGBG": "0;15"}, "light"),
        ("auto", "unknown", {"COLORFGBG": "12;8"}, "dark"),
        ("auto", "unknown", {"TERM": "linux"}, "dark"),
        ("dark", "light", {}, "dark"),
    ],
)
def test_the_background_is_told_by_the_setting_the_terminal_or_the_environment(
    setting: str, background: Background, environ: dict[str, str], like: str
) -> None:
    assert theme_of(setting, background, environ) == theme_of(like, "unknown", {})
