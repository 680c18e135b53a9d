"""The drawer of a display's MIME bundle as rows or a picture."""

import fcntl
import re
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, TextIO, assert_never, cast

from rich.color import ColorSystem
from rich.text import Text

from terp.text import pictures
from terp.text.dataclasses import dataclass, replace
from terp_cli.render import look
from terp_cli.render.pictures import escapes, raster
from terp_cli.render.pictures.escapes import blocks, sixel
from terp_cli.render.pictures.raster import CellSize, Extent, extent
from terp_cli.terminal import tty
from terp_cli.terminal.rows import Graphic
from terp_cli.terminal.terminal_facts import TerminalFacts, is_multiplexed

Drawn = Text | Graphic

# A picture file that is larger is sent with fewer pixels; over ssh even this takes a moment.
_MOST_BYTES = 4_000_000
# kitty refuses pictures that are wider or higher.
_MOST_SIDE = 10_000
# Rows of earlier text that stay in sight.
_ROWS_LEFT = 6
_ROWS_LEFT_BY_BLOCKS = 3
_PNG = b"\x89PNG\r\n\x1a\n"


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
    """Return True within tmux, screen or zellij, where the environment names another terminal."""
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


class Drawer:
    """Drawer of pictures on a terminal of this `size` (columns and rows), with characters of size `cell`.

    An obstacle is reported once, in a separate row. `search` is the path of programs, of which one
    may draw an SVG.
    """

    def __init__(
        self,
        choice: Callable[[], PictureChoice],
        size: Callable[[], tuple[int, int]],
        cell: Callable[[], CellSize],
        search: str = "",
    ) -> None:
        self._choice = choice
        self._size = size
        self._cell = cell
        self._search = search
        self._said: set[str] = set()

    def __call__(self, bundle: Mapping[str, Any]) -> list[Drawn]:
        """Return the rows of the bundle's picture; none without a picture, or if it is not drawn."""
        picture, svg = pictures.raster(bundle), bundle.get("image/svg+xml")
        if picture is None and not isinstance(svg, str):
            return []
        choice = self._choice()
        if choice.way == "off":
            return self._say(choice.why)
        data = picture[1] if picture else raster.of_svg(str(svg), self._search)
        if not data:
            return []
        try:
            return [*self._say(choice.why), *self._drawn(data, choice.way)]
        except raster.NotDrawable as error:
            return self._say(str(error))

    def _drawn(self, data: bytes, way: Way) -> list[Drawn]:
        match way:
            case "kitty" | "kitty in tmux":
                return [self._kitty(data, in_tmux=way == "kitty in tmux")]
            case "iterm":
                size = pictures.size(data)
                at = self._extent(size or raster.opened(data).size)
                fits = size and len(data) <= _MOST_BYTES
                return [escapes.iterm(data if fits else raster.shrunk(raster.opened(data), at), at)]
            case "sixel":
                image = raster.opened(data)
                return [sixel(image, self._extent(image.size))]
            case "blocks":
                columns, rows = self._size()
                rows = max(3, rows - _ROWS_LEFT_BY_BLOCKS)
                return list(blocks(raster.opened(data), max(1, columns), rows))
            case "off":
                return []
            case _:
                assert_never(way)

    def _kitty(self, data: bytes, *, in_tmux: bool) -> Graphic:
        size = pictures.size(data) if data.startswith(_PNG) and b"IEND" in data[-64:] else None
        at = self._extent(size or raster.opened(data).size)
        if size is None:
            data = raster.as_png(raster.opened(data))
        if len(data) > _MOST_BYTES or max(size or (0,)) > _MOST_SIDE:
            data = raster.shrunk(raster.opened(data), at)
        if in_tmux:
            return escapes.kitty_in_tmux(data, at)
        return escapes.kitty(data, at, proportional=self._cell().known)

    def _extent(self, size: tuple[int, int]) -> Extent:
        return extent(size, self._cell(), *self._room())

    def _room(self) -> tuple[int, int]:
        columns, rows = self._size()
        return max(1, columns), max(3, min(rows - _ROWS_LEFT, escapes.MOST_PLACEHOLDER_ROWS))

    def _say(self, why: str) -> list[Drawn]:
        if not why or why in self._said:
            return []
        self._said.add(why)
        return [Text(why, look.DIM)]


def drawer_on(
    out: TextIO, wanted: str, environ: Mapping[str, str], facts: Callable[[], TerminalFacts] = TerminalFacts
) -> Drawer | None:
    """Return the drawer of pictures for the terminal `out`; None if it shows none, or none are `wanted`.

    `wanted` is the setting `images`; `facts` are the terminal's answers so far.
    """
    choice = choice_on(out, wanted, environ, facts)
    if choice is None:
        return None
    search = environ.get("PATH", "")
    return Drawer(choice, lambda: tty.size_of(out), lambda: _cell(_with_cell(facts(), out)), search)


def choice_on(
    out: TextIO, wanted: str, environ: Mapping[str, str], facts: Callable[[], TerminalFacts] = TerminalFacts
) -> Callable[[], PictureChoice] | None:
    """Return the choice of a protocol for the terminal `out`, by the facts at the call; None for none."""
    if wanted == "off" or not out.isatty() or not tty.moves_cursor(environ):
        return None
    # Without colours, or without the characters, there are no pictures of characters.
    is_colourful = tty.colours_of(environ) in (ColorSystem.EIGHT_BIT, ColorSystem.TRUECOLOR)
    colours = is_colourful and (out.encoding or "").lower().replace("-", "").startswith("utf8")
    tmux = cache(lambda: ask_tmux(environ))
    return lambda: choose(wanted, environ, _with_cell(facts(), out), tmux, colours=colours)


def _cell(facts: TerminalFacts) -> CellSize:
    size = facts.cell_width, facts.cell_height
    return CellSize(*size, known=True) if all(size) else CellSize()


def _with_cell(facts: TerminalFacts, out: TextIO) -> TerminalFacts:
    """Return `facts` with the size of a cell from the system, if the terminal has not answered."""
    if facts.cell_width and facts.cell_height:
        return facts
    try:
        answer = fcntl.ioctl(out.fileno(), termios.TIOCGWINSZ, bytes(8))
    except (OSError, ValueError):
        return facts
    rows, columns, width, height = struct.unpack("HHHH", answer)
    if not (rows and columns):
        return facts
    return replace(facts, cell_width=width // columns, cell_height=height // rows)
