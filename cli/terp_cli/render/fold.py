"""Rows that are wider than the terminal."""

from rich.cells import cell_len
from rich.text import Text


def fold(text: Text, width: int) -> list[Text]:
    """`text` cut into rows of at most `width` cells, anywhere."""
    plain = text.plain
    if len(plain) * 2 <= width:
        return [text]
    if plain.isascii():
        cuts = list(range(width, len(plain), width))
    else:
        cuts, cells = [], 0
        for at, character in enumerate(plain):
            cells += (size := cell_len(character))
            if cells > width:
                cuts.append(at)
                cells = size
    return list(text.divide(cuts)) if cuts else [text]
