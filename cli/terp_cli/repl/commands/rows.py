"""Columns of text for the lists of commands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from terp.text.wording import shortened
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from rich.text import Text

COLUMNS_FROM = 50
"""The narrowest screen on which lists stand in columns whether these fit or not."""
_GAP = 2
_NARROWEST = 8


def columns(
    lines: Sequence[Sequence[str]], width: int, styles: Sequence[str] = (), *, wraps: bool = False
) -> "list[Text]":
    """Return a row for each line, in aligned columns; the last column is cut to the room that is left.

    With `wraps`, it is broken into several lines instead. `styles` are those of the columns. On a narrow
    screen that has no room for all columns each cell has a row of its own.
    """
    # There is a prompt before there is rich.
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    safe = [[one_line(cell) for cell in line] for line in lines]
    widths = [max(map(cell_len, column)) for column in zip(*safe, strict=True)]
    room = width - sum(widths[:-1]) - _GAP * (len(widths) - 1)
    if width < COLUMNS_FROM and widths[-1:] > [room]:
        return [Text(text, style) for line in safe for text, style in _block(line, width, styles)]
    rows = []
    for line in _wrapped(safe, room) if wraps else safe:
        row = Text()
        for at, cell in enumerate(line[:-1]):
            row.append(set_cell_size(cell, widths[at] + _GAP), styles[at] if at < len(styles) else "")
        last = line[-1]
        if room >= _NARROWEST and cell_len(last) > room:
            last = set_cell_size(last, room - 1).rstrip() + "…"
        row.append(last, styles[len(line) - 1] if len(line) <= len(styles) else "")
        row.rstrip()
        rows.append(row)
    return rows


def _block(line: Sequence[str], width: int, styles: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the rows of one line, each with its style: the cells below each other."""
    yield line[0], styles[0] if styles else ""
    for at, cell in enumerate(line[1:], 1):
        style = styles[at] if at < len(styles) else ""
        yield from ((f"  {part}", style) for part in wrap(cell, max(width - 2, _NARROWEST)))


def _wrapped(lines: Sequence[Sequence[str]], room: int) -> Iterator[Sequence[str]]:
    for line in lines:
        first, *more = wrap(line[-1], max(room, _NARROWEST), break_long_words=False) or [""]
        yield (*line[:-1], first)
        yield from ((*[""] * (len(line) - 1), rest) for rest in more)


def aligned(lines: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines as text for a pipe or a file, in aligned columns."""
    safe = [[one_line(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*safe, strict=True)]
    for line in safe:
        padded = (f"{cell:{width}}" for cell, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip() + "\n"


def short_line(text: str, most: int) -> str:
    """Return a text as one line of at most so many characters."""
    return shortened(" ".join(text.split()), most)


def shown(value: object) -> str:
    """Format a value of a setting."""
    if isinstance(value, bool):
        return "on" if value else "off"
    text = ", ".join(map(str, value)) if isinstance(value, tuple | Mapping) else str(value)
    return text if value not in (None, "", (), {}) else "–"
