"""The colours of terp's text on a dark, a light and an unknown background.

terp names the first eight colours of the terminal. A theme replaces those that cannot be read: each has a
contrast of at least 4.5 to 1 with its background (WCAG 2.2, 1.4.3) in the palette of xterm.
"""

from collections.abc import Mapping

from terp.text.dataclasses import dataclass, field
from terp_cli.terminal import tty
from terp_cli.terminal.terminal_facts import Background


@dataclass(frozen=True, slots=True)
class Theme:
    """SGR parameters by the name of a colour, "" for no colour; a colour that is missing stays as it is.

    Without `colours` only bold and italic remain.
    """

    sgr: Mapping[str, str] = field(default_factory=dict)
    colours: bool = True


_DARK = Theme({"blue": "38;5;75", "red": "38;5;203", "magenta": "38;5;176"})
_LIGHT = Theme(
    {
        "yellow": "38;5;94",
        "green": "38;5;28",
        "cyan": "38;5;24",
        "magenta": "38;5;90",
        "red": "38;5;124",
        "blue": "38;5;25",
    }
)
# Readable on black and on white, which no yellow is, and none of sixteen colours.
_ANY = Theme(
    {
        "yellow": "38;5;131",
        "green": "38;5;29",
        "cyan": "38;5;63",
        "magenta": "38;5;163",
        "red": "38;5;131",
        "blue": "38;5;63",
    }
)
# Of sixteen colours.
_FEW_DARK = Theme({"blue": "36", "red": "91", "magenta": "95"})
_FEW_LIGHT = Theme({"yellow": "", "green": "", "cyan": "34"})
_FEW_ANY = Theme(dict.fromkeys(("yellow", "green", "cyan", "magenta", "red", "blue"), ""))
_NONE = Theme(colours=False)
_OWN = Theme()


def own_colours() -> Theme:
    """Return the theme that leaves the terminal's colours as they are."""
    return _OWN


def theme_of(setting: str, background: Background, environ: Mapping[str, str]) -> Theme:
    """Return the theme of a setting; "auto" depends on the background, from the terminal or COLORFGBG."""
    if setting == "none":
        return _NONE
    chosen: str = background if setting == "auto" else setting
    if chosen == "unknown" and (index := environ.get("COLORFGBG", "").rpartition(";")[2]).isdigit():
        # The background's index among the sixteen colours (rxvt, Konsole).
        chosen = "light" if int(index) in (7, *range(9, 16)) else "dark"
    if chosen == "unknown" and environ.get("TERM") == "linux":
        chosen = "dark"
    if tty.has_256_colours(environ):
        return {"dark": _DARK, "light": _LIGHT}.get(chosen, _ANY)
    return {"dark": _FEW_DARK, "light": _FEW_LIGHT}.get(chosen, _FEW_ANY)
