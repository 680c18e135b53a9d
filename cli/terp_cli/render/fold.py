"""Rows that are wider than the terminal."""

import re
from functools import lru_cache

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

# A name and a gap, as in the lists of /help.
_COLUMN = re.compile(r"(?: *\S(?:\S| (?! ))*)? {2,}(?=\S)")


def fold(text: Text, width: int) -> list[Text]:
    """Cut `text` into rows of at most `width` cells, anywhere."""
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


def wrapped(text: Text, width: int) -> list[Text]:
    """Break `text` into rows of at most `width` cells, between words if possible."""
    rows = list(text.wrap(_measure(), max(1, width), overflow="fold"))
    for row in rows:
        row.rstrip()
    return rows


def indented(text: Text, width: int) -> list[Text]:
    """Break `text` as `wrapped` does; each row has the indentation of the first."""
    indent = len(text.plain) - len(text.plain.lstrip(" "))
    if not 0 < indent <= width // 2:
        return wrapped(text, width)
    return [text[:indent] + row for row in wrapped(text[indent:], width - indent)]


def hanging(line: str, width: int) -> list[Text]:
    """Break a line of terp into rows; text after the first column is indented to it."""
    column = _COLUMN.match(line)
    indent = column.end() if column and column.end() <= width // 2 else 0
    rows = wrapped(Text(line[indent:]), width - indent)
    return [Text(line[:indent] if at == 0 else " " * indent) + row for at, row in enumerate(rows)]


@lru_cache(maxsize=1)
def _measure() -> Console:
    # `Text.wrap` asks for a console, and uses it for justified text only.
    return Console(width=80, force_terminal=False)
