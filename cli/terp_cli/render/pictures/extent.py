"""How many cells of the terminal a picture takes."""

import math
from dataclasses import dataclass

# What a picture's pixel was made for; on a screen with twice as many it takes four of them.
_USUAL_HEIGHT = 20


@dataclass(frozen=True, slots=True)
class Cell:
    """The size of a character's cell in pixels; `known` tells whether the terminal said so."""

    width: int = 10
    height: int = 20
    known: bool = False


@dataclass(frozen=True, slots=True)
class Extent:
    """A picture's place in cells, and its size within them in pixels."""

    columns: int
    rows: int
    width: int
    height: int
    keeps: str
    """Which of "columns" and "rows" the picture fills; the other follows from its proportions."""


def extent(size: tuple[int, int], cell: Cell, columns: int, rows: int) -> Extent:
    """The place of a picture of this size: its own size, or as large as so many cells allow."""
    density = max(1, round(cell.height / _USUAL_HEIGHT)) if cell.known else 1
    width, height = max(1, size[0]) * density, max(1, size[1]) * density
    scale = min(1.0, columns * cell.width / width, rows * cell.height / height)
    wide = min(columns, max(1, round(width * scale / cell.width)))
    high = math.ceil(wide * cell.width * height / width / cell.height)
    if high <= rows:
        tall = max(1, round(wide * cell.width * height / width))
        return Extent(wide, high, wide * cell.width, tall, "columns")
    slim = max(1, round(rows * cell.height * width / height))
    return Extent(max(1, math.ceil(slim / cell.width)), rows, slim, rows * cell.height, "rows")
