"""Which way of drawing pictures suits a terminal."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from terp_cli.render.pictures.tmux import Tmux
from terp_cli.terminal.terminal_facts import TerminalFacts
from terp_cli.terminal.terminal_query import is_multiplexed

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
class Choice:
    """How pictures are drawn, and what to say when it is not what was asked for."""

    way: Way
    why: str = ""


def choose(
    wanted: str,
    environ: Mapping[str, str],
    facts: TerminalFacts,
    ask_tmux: Callable[[], Tmux],
    *,
    colours: bool,
) -> Choice:
    """The way for the setting `wanted`; `colours` tells whether characters can show a picture at all.

    tmux is asked only where its answer matters.
    """
    last: Way = "blocks" if colours else "off"
    if wanted in ("off", "blocks"):
        return Choice(cast("Way", wanted))
    if is_multiplexed(environ):
        return _multiplexed(wanted, environ, facts, ask_tmux, last)
    way = wanted if wanted != "auto" else told(environ) or _answered(facts) or last
    if way == "sixel" and not facts.cell_height:
        why = (
            "The terminal does not tell the size of its cells, which sixel needs." if wanted != "auto" else ""
        )
        return Choice(last, why)
    return Choice(cast("Way", way))


def told(environ: Mapping[str, str]) -> str:
    """The way that the terminal of this environment is known for; "" when it is not known."""
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
) -> Choice:
    """Within tmux, screen or zellij, the names in the environment are those of another terminal."""
    if wanted in ("auto", "sixel") and facts.sixel and facts.cell_height:
        return Choice("sixel")
    if wanted in ("auto", "kitty") and environ.get("TMUX"):
        tmux = ask_tmux()
        if tmux.passes and (tmux.places or wanted == "kitty"):
            return Choice("kitty in tmux")
        if wanted == "kitty":
            return Choice(last, "tmux does not pass pictures on; its option allow-passthrough is off.")
    if wanted == "auto":
        return Choice(last)
    return Choice(last, f"A picture for {wanted} cannot be placed within tmux, screen or zellij.")
