"""The choice of a protocol for pictures on a terminal."""

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from terp_cli.terminal.terminal_facts import TerminalFacts
from terp_cli.terminal.terminal_query import is_multiplexed

_FORMAT = "#{allow-passthrough} #{client_termname} #{client_termtype}"
_PLACE_PICTURES = ("kitty", "ghostty")
_PATIENCE_S = 0.3


@dataclass(frozen=True, slots=True)
class Tmux:
    """The abilities of tmux: it passes sequences on; its terminal draws kitty's placeholders."""

    passes: bool = False
    places: bool = False


def ask_tmux(environ: Mapping[str, str]) -> Tmux:
    """Query the tmux of this environment; return no abilities if it does not answer."""
    command = ["tmux", "display-message", "-p", _FORMAT]
    try:
        said = subprocess.run(
            command, env=dict(environ), capture_output=True, text=True, timeout=_PATIENCE_S, check=True
        ).stdout
    except (OSError, ValueError, subprocess.SubprocessError):
        return Tmux()
    allowed, _, terminal = said.strip().partition(" ")
    # Some versions print a switch as a number, others as a word.
    return Tmux(allowed in ("1", "2", "on", "all"), any(name in terminal for name in _PLACE_PICTURES))


Way = Literal["off", "kitty", "kitty in tmux", "iterm", "sixel", "blocks"]

# Names that a terminal gives itself and that no other passes on: TERM first, it is always fresh.
_TERMS = (
    (re.compile(r"xterm-(kitty|ghostty)"), "kitty"),
    (re.compile(r"(foot|mlterm|contour|yaft)\b.*"), "sixel"),
)
_PROGRAMS = {
    "iTerm.app": "iterm",
    "WezTerm": "iterm",
    "mintty": "iterm",
    "rio": "iterm",
    "ghostty": "kitty",
}
# Started from a shell within kitty or Konsole, these inherit its variables.
_OTHERS = ("XTERM_VERSION", "VTE_VERSION", "ALACRITTY_WINDOW_ID")
_FIRST_KONSOLE = 220400


@dataclass(frozen=True, slots=True)
class PictureChoice:
    """The protocol for pictures, and a notice if it is not that of the setting."""

    way: Way
    why: str = ""


def choose(
    wanted: str,
    environ: Mapping[str, str],
    facts: TerminalFacts,
    ask_tmux: Callable[[], Tmux],
    *,
    colours: bool,
) -> PictureChoice:
    """Return the choice for the setting `wanted`; `colours`: characters can show a picture.

    tmux is queried only if its answer matters.
    """
    last: Way = "blocks" if colours else "off"
    if wanted in ("off", "blocks"):
        return PictureChoice(cast("Way", wanted))
    if is_multiplexed(environ):
        return _multiplexed(wanted, environ, facts, ask_tmux, last)
    way = wanted if wanted != "auto" else known_way(environ) or _answered(facts) or last
    if way == "sixel" and not facts.cell_height:
        why = "The terminal does not report its cells' size, which sixel needs." if wanted != "auto" else ""
        return PictureChoice(last, why)
    return PictureChoice(cast("Way", way))


def known_way(environ: Mapping[str, str]) -> str:
    """Return the protocol that the terminal of this environment supports; "" if unknown."""
    for term, way in _TERMS:
        if term.fullmatch(environ.get("TERM", "")):
            return way
    if program := environ.get("TERM_PROGRAM"):
        return _PROGRAMS.get(program, "")
    if environ.get("LC_TERMINAL") == "iTerm2":
        # ssh passes on what begins with LC_.
        return "iterm"
    if any(environ.get(variable) for variable in _OTHERS):
        return ""
    konsole = environ.get("KONSOLE_VERSION", "")
    is_konsole = konsole.isascii() and konsole.isdigit() and int(konsole) >= _FIRST_KONSOLE
    return "kitty" if is_konsole or environ.get("KITTY_WINDOW_ID") else ""


def _answered(facts: TerminalFacts) -> str:
    return "kitty" if facts.kitty else "sixel" if facts.sixel else ""


def _multiplexed(
    wanted: str,
    environ: Mapping[str, str],
    facts: TerminalFacts,
    ask_tmux: Callable[[], Tmux],
    last: Way,
) -> PictureChoice:
    """Within tmux, screen or zellij, the names in the environment are those of another terminal."""
    if wanted in ("auto", "sixel") and facts.sixel and facts.cell_height:
        return PictureChoice("sixel")
    if wanted in ("auto", "kitty") and environ.get("TMUX"):
        tmux = ask_tmux()
        if tmux.passes and (tmux.places or wanted == "kitty"):
            return PictureChoice("kitty in tmux")
        if wanted == "kitty":
            return PictureChoice(last, "tmux does not pass pictures on; its option allow-passthrough is off.")
    if wanted == "auto":
        return PictureChoice(last)
    return PictureChoice(last, f"A picture for {wanted} cannot be placed within tmux, screen or zellij.")
