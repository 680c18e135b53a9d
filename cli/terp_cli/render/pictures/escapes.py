"""Pictures as sequences for a terminal: kitty's protocol, iTerm2's, sixels, and quadrants in colour.

https://sw.kovidgoyal.net/kitty/graphics-protocol/ and https://iterm2.com/documentation-images.html
"""

import base64
import re
import zlib
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, groupby
from typing import TYPE_CHECKING

from rich.color import Color
from rich.style import Style
from rich.text import Text

from terp_cli.render.pictures import raster
from terp_cli.render.pictures.raster import Extent
from terp_cli.terminal.rows import Graphic, placed

if TYPE_CHECKING:
    from PIL.Image import Image

_CHUNK = 4096
_PLACEHOLDER = "\U0010eeee"
# The combining characters that number rows, and the upper eight bits of an image's id, in the order
# of kitty's table. A picture that is higher is drawn no higher than this.
_NUMBERS = (
    "\u0305\u030d\u030e\u0310\u0312\u033d\u033e\u033f\u0346\u034a\u034b\u034c\u0350\u0351\u0352\u0357"
    "\u035b\u0363\u0364\u0365\u0366\u0367\u0368\u0369\u036a\u036b\u036c\u036d\u036e\u036f\u0483\u0484"
    "\u0485\u0486\u0487\u0592\u0593\u0594\u0595\u0597\u0598\u0599\u059c\u059d\u059e\u059f\u05a0\u05a1"
    "\u05a8\u05a9\u05ab\u05ac\u05af\u05c4\u0610\u0611\u0612\u0613\u0614\u0615\u0616\u0617\u0657\u0658"
)
MOST_PLACEHOLDER_ROWS = len(_NUMBERS)


def kitty(png: bytes, at: Extent, *, proportional: bool) -> Graphic:
    """A PNG in kitty's protocol. Unless `proportional`, it is fitted to the cells as they are."""
    size = {"columns": f"c={at.columns}", "rows": f"r={at.rows}"}[at.keeps]
    if not proportional:
        size = f"c={at.columns},r={at.rows}"
    # q=2: without it the terminal's answer would appear at the prompt.
    return placed("".join(_chunks(png, f"a=T,f=100,q=2,C=1,{size}")), at.columns, at.rows)


def kitty_in_tmux(png: bytes, at: Extent) -> Graphic:
    """A PNG that tmux passes to kitty, and placeholder cells of text, which tmux can move.

    The terminal draws a passed-through sequence before tmux has drawn its own pending output, so a
    picture drawn at the cursor appears in the wrong place (seen with 3.3a).
    """
    # The lower bits of the id are the colour of the cells: one of 256, which every tmux passes on.
    number = zlib.crc32(png + f"{at.columns}x{at.rows}".encode())
    colour, upper = number % 255 + 1, number // 255 % len(_NUMBERS)
    keys = f"a=T,f=100,q=2,U=1,i={upper << 24 | colour},c={at.columns},r={at.rows}"
    sent = "".join(map(through_tmux, _chunks(png, keys)))
    cells = [
        _PLACEHOLDER + _NUMBERS[row] + _NUMBERS[0] + _NUMBERS[upper] + _PLACEHOLDER * (at.columns - 1)
        for row in range(at.rows)
    ]
    rows = [f"\x1b[38;5;{colour}m{row}\x1b[m\r\n" for row in cells]
    return Graphic(at.rows, at.columns, sent + "".join(rows))


def iterm(data: bytes, at: Extent) -> Graphic:
    """A picture of any common type in iTerm2's protocol."""
    keys = f"inline=1;size={len(data)};width={at.columns};height={at.rows};preserveAspectRatio=1"
    return placed(f"\x1b]1337;File={keys}:{base64.b64encode(data).decode()}\x07", at.columns, at.rows)


def through_tmux(sequence: str) -> str:
    """A sequence that tmux hands on to its terminal, if its `allow-passthrough` is on."""
    doubled = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{doubled}\x1b\\"


def _chunks(png: bytes, keys: str) -> Iterator[str]:
    encoded = base64.b64encode(png).decode()
    for at in range(0, len(encoded), _CHUNK):
        more = int(at + _CHUNK < len(encoded))
        yield f"\x1b_G{keys + ',' if keys else ''}m={more};{encoded[at : at + _CHUNK]}\x1b\\"
        # After the first piece the protocol takes only `m` and `q`.
        keys = "q=2"


Pixel = tuple[int, int, int]

# By the pixels of the brighter colour: upper left 1, upper right 2, lower left 4, lower right 8.
_QUADRANTS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"
# Enough for a photograph; each further one makes runs shorter and costs bytes.
_COLOURS = 128


def blocks(image: "Image", columns: int, rows: int) -> list[Text]:
    """The picture in at most so many cells of four pixels in two colours; a cell is twice as high as wide."""
    scale = min(1.0, columns / image.width, rows * 2 / image.height)
    wide = min(columns, max(1, round(image.width * scale)))
    high = min(rows, max(1, round(image.height * scale / 2)))
    pixels = _pixels(raster.thickened(image, image.width / (2 * wide)), 2 * wide, 2 * high)
    pairs = [(pixels[at], pixels[at + 1]) for at in range(0, 2 * high, 2)]
    return [_row(upper, lower) for upper, lower in pairs]


def _pixels(image: "Image", width: int, height: int) -> list[list[Pixel]]:
    from PIL import Image as Pillow  # noqa: PLC0415  (whoever has an image has Pillow)

    small = image.convert("RGB").resize((width, height), Pillow.Resampling.BOX)
    pixels = small.quantize(_COLOURS, dither=Pillow.Dither.NONE).convert("RGB").tobytes()
    colours = [(pixels[at], pixels[at + 1], pixels[at + 2]) for at in range(0, len(pixels), 3)]
    return [colours[at : at + width] for at in range(0, len(colours), width)]


def _row(upper: list[Pixel], lower: list[Pixel]) -> Text:
    text = Text()
    cells = [_cell((*upper[at : at + 2], *lower[at : at + 2])) for at in range(0, len(upper), 2)]
    for (shape, front, ground), run in groupby(cells):
        colour = Color.from_rgb(*front) if shape != " " else None
        # A cell of one colour is a space: it leaves no seams between rows.
        text.append(shape * len(list(run)), Style(color=colour, bgcolor=Color.from_rgb(*ground)))
    return text


@lru_cache(maxsize=4096)
def _cell(pixels: tuple[Pixel, Pixel, Pixel, Pixel]) -> tuple[str, Pixel, Pixel]:
    """Return the character for four pixels, its colour, and that of its ground: the two that are nearest."""
    front, ground = max(combinations(pixels, 2), key=lambda pair: _distance(*pair))
    if front == ground:
        return " ", front, front
    is_front = [_distance(pixel, front) < _distance(pixel, ground) for pixel in pixels]
    shape = sum(1 << at for at, one in enumerate(is_front) if one)
    fronts = [pixel for pixel, one in zip(pixels, is_front, strict=True) if one]
    grounds = [pixel for pixel, one in zip(pixels, is_front, strict=True) if not one]
    return _QUADRANTS[shape], _mean(fronts), _mean(grounds)


def _distance(one: Pixel, other: Pixel) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _mean(pixels: list[Pixel]) -> Pixel:
    red, green, blue = (round(sum(channel) / len(pixels)) for channel in zip(*pixels, strict=True))
    return red, green, blue


_MOST_COLOURS = 64
_BAND = 6
_RUN = re.compile(rb"(.)\1{3,254}", re.DOTALL)
_TO_CHARACTERS = bytes(min(255, bits + 63) for bits in range(256))


def sixel(image: "Image", at: Extent) -> Graphic:
    """The picture in the size of its extent."""
    small = image.convert("RGB").resize((at.width, at.height))
    indexed = small.quantize(_MOST_COLOURS)
    palette = indexed.getpalette() or []
    colours = sorted({index for _, index in indexed.getcolors() or () if isinstance(index, int)})
    registers = "".join(f"#{index};2;{_percents(palette[index * 3 : index * 3 + 3])}" for index in colours)
    rows = _cut(indexed.tobytes(), at.width)
    # A row of bytes, 1 for pixels of one colour: shifted, it is that row of a band.
    masks = {index: bytes(number == index for number in range(256)) for index in colours}
    bands = [_band(rows[top : top + _BAND], masks) for top in range(0, len(rows), _BAND)]
    # 1: other pixels stay unchanged.
    drawing = f'\x1bP0;1;0q"1;1;{at.width};{at.height}{registers}{"-".join(bands)}\x1b\\'
    return placed(drawing, at.columns, at.rows)


def _band(rows: list[bytes], masks: dict[int, bytes]) -> str:
    width = len(rows[0])
    drawn = []
    for index in sorted(set(b"".join(rows))):
        bits = 0
        for at, row in enumerate(rows):
            if index in row:
                bits |= int.from_bytes(row.translate(masks[index])) << at
        characters = bits.to_bytes(width).translate(_TO_CHARACTERS).rstrip(b"?")
        drawn.append(f"#{index}{_RUN.sub(_counted, characters).decode()}")
    return "$".join(drawn)


def _counted(run: re.Match[bytes]) -> bytes:
    return b"!%d%b" % (len(run[0]), run[1])


def _percents(colour: list[int]) -> str:
    return ";".join(str(round(part * 100 / 255)) for part in colour)


def _cut(pixels: bytes, width: int) -> list[bytes]:
    return [pixels[at : at + width] for at in range(0, len(pixels), width)]
