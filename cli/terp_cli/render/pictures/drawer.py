"""The drawer of a display's MIME bundle as rows or a picture."""

import fcntl
import struct
import termios
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TextIO, assert_never

from rich.color import ColorSystem
from rich.text import Text

from terp.text import pictures
from terp_cli.render import look
from terp_cli.render.pictures import escapes, raster
from terp_cli.render.pictures.choice import PictureChoice, Way, ask_tmux, choose
from terp_cli.render.pictures.escapes import blocks, sixel
from terp_cli.render.pictures.raster import CellSize, Extent, extent
from terp_cli.terminal import tty
from terp_cli.terminal.rows import Graphic
from terp_cli.terminal.terminal_facts import TerminalFacts

Drawn = Text | Graphic

# A picture file that is larger is sent with fewer pixels; over ssh even this takes a moment.
_MOST_BYTES = 4_000_000
# kitty refuses pictures that are wider or higher.
_MOST_SIDE = 10_000
# Rows of earlier text that stay in sight.
_ROWS_LEFT = 6
# Half cells are large pixels: what is higher is not seen at a glance.
_MOST_BLOCKS = 30
_PNG = b"\x89PNG\r\n\x1a\n"


class Drawer:
    """Drawer of pictures on a terminal of this `size` (columns and rows), with characters of size `cell`.

    What stands in the way is said once, in a row of its own. `search` is the path of programs, of which one
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
                columns, rows = self._room()
                return list(blocks(raster.opened(data), columns, min(rows, _MOST_BLOCKS)))
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

    `wanted` is the setting `images`; `facts` is what the terminal has answered so far.
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
