"""Columns of text for what commands list."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

_GAP = 2


def columns(lines: Sequence[Sequence[str]], width: int, styles: Sequence[str] = ()) -> "list[Text]":
    """A row for each line, its cells below each other; the last one is cut to what the screen has left.

    `styles` are those of the columns. Cells are made safe here.
    """
    # There is a prompt before there is rich.
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from terp_cli.sanitise import one_line  # noqa: PLC0415

    safe = [[one_line(cell) for cell in line] for line in lines]
    widths = [max(map(cell_len, column)) for column in zip(*safe, strict=True)]
    room = width - sum(widths[:-1]) - _GAP * (len(widths) - 1)
    rows = []
    for line in safe:
        row = Text()
        for at, cell in enumerate(line[:-1]):
            row.append(set_cell_size(cell, widths[at] + _GAP), styles[at] if at < len(styles) else "")
        last = line[-1]
        if room >= 8 and cell_len(last) > room:
            last = set_cell_size(last, room - 1).rstrip() + "…"
        row.append(last, styles[len(line) - 1] if len(line) <= len(styles) else "")
        row.rstrip()
        rows.append(row)
    return rows


def size_of(count: int) -> str:
    """A number of bytes as people read it: `56 kB`."""
    amount, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "bytes" or amount >= 10 else f"{amount:.1f} {unit}"


def grouped(number: int) -> str:
    """A number in groups of three: `12 345`."""
    return f"{number:,}".replace(",", " ")


def counted(number: int, what: str) -> str:
    """A number of things: `1 line`, `2 lines`."""
    return f"{grouped(number)} {what}{'' if number == 1 else 's'}"
