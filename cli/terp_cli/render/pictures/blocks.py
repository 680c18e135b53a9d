"""Pictures in characters: the upper half of a cell in one colour and its lower half in another."""

from itertools import groupby
from typing import TYPE_CHECKING

from rich.color import Color
from rich.style import Style
from rich.text import Text

if TYPE_CHECKING:
    from PIL.Image import Image

Pixel = tuple[int, int, int]

_UPPER = "▀"
# Enough for a plot; each further one makes runs shorter and costs bytes.
_COLOURS = 64


def blocks(image: "Image", columns: int, rows: int) -> list[Text]:
    """The picture in at most so many cells, in its own proportions if a cell is twice as high as wide."""
    scale = min(1.0, columns / image.width, rows * 2 / image.height)
    width, height = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    lines = _lines(image, min(columns, width), min(rows * 2, height))
    pairs = [(lines[at], lines[at + 1] if at + 1 < len(lines) else None) for at in range(0, len(lines), 2)]
    return [_row(upper, lower) for upper, lower in pairs]


def _lines(image: "Image", width: int, height: int) -> list[list[Pixel]]:
    from PIL import Image as Pillow  # noqa: PLC0415  (whoever has an image has Pillow)

    small = image.convert("RGB").resize((width, height), Pillow.Resampling.BOX)
    pixels = small.quantize(_COLOURS, dither=Pillow.Dither.NONE).convert("RGB").tobytes()
    colours = [(pixels[at], pixels[at + 1], pixels[at + 2]) for at in range(0, len(pixels), 3)]
    return [colours[at : at + width] for at in range(0, len(colours), width)]


def _row(upper: list[Pixel], lower: list[Pixel] | None) -> Text:
    text = Text()
    cells = zip(upper, lower, strict=True) if lower else ((pixel, None) for pixel in upper)
    for (above, below), run in groupby(cells):
        length = len(list(run))
        if above == below:
            # A ground alone is one colour to set, and spaces leave no seams between the rows.
            text.append(" " * length, Style(bgcolor=Color.from_rgb(*above)))
        else:
            ground = Color.from_rgb(*below) if below else None
            text.append(_UPPER * length, Style(color=Color.from_rgb(*above), bgcolor=ground))
    return text
