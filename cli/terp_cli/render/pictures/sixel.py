"""Pictures in DEC's sixels: bands of six rows of pixels, drawn one colour after the other.

Pillow scales the picture and chooses its colours; it does not write this format, and what does is
without a release for the Pythons and the Pillow of today (term-image, libsixel), or wants a later
Python (textual-image).
"""

import re
from typing import TYPE_CHECKING

from terp_cli.render.pictures.raster import Extent
from terp_cli.terminal.rows import Graphic, placed

if TYPE_CHECKING:
    from PIL.Image import Image

_COLOURS = 64
_BAND = 6
_RUN = re.compile(rb"(.)\1{3,254}", re.DOTALL)
_TO_CHARACTERS = bytes(min(255, bits + 63) for bits in range(256))


def sixel(image: "Image", at: Extent) -> Graphic:
    """The picture in the size of its extent."""
    small = image.convert("RGB").resize((at.width, at.height))
    indexed = small.quantize(_COLOURS)
    palette = indexed.getpalette() or []
    colours = sorted({index for _, index in indexed.getcolors() or () if isinstance(index, int)})
    registers = "".join(f"#{index};2;{_percents(palette[index * 3 : index * 3 + 3])}" for index in colours)
    rows = _cut(indexed.tobytes(), at.width)
    # A row of bytes in which those of one colour are 1: shifted, it is its row of a band.
    masks = {index: bytes(number == index for number in range(256)) for index in colours}
    bands = [_band(rows[top : top + _BAND], masks) for top in range(0, len(rows), _BAND)]
    # 1: what is not drawn stays as it was.
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
