"""Columns of text for the lists of commands."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from rich.text import Text

_GAP = 2
_NARROWEST = 8


def columns(
    lines: Sequence[Sequence[str]], width: int, styles: Sequence[str] = (), *, wraps: bool = False
) -> "list[Text]":
    """Return a row for each line, in aligned columns; the last column is cut to the room that is left.

    With `wraps`, it is broken into several lines instead. `styles` are those of the columns.
    """
    # There is a prompt before there is rich.
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    safe = [[one_line(cell) for cell in line] for line in lines]
    widths = [max(map(cell_len, column)) for column in zip(*safe, strict=True)]
    room = width - sum(widths[:-1]) - _GAP * (len(widths) - 1)
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


def _wrapped(lines: Sequence[Sequence[str]], room: int) -> Iterator[Sequence[str]]:
    for line in lines:
        first, *more = wrap(line[-1], max(room, _NARROWEST), break_long_words=False) or [""]
        yield (*line[:-1], first)
        yield from ((*[""] * (len(line) - 1), rest) for rest in more)


def size_of(count: int) -> str:
    """Format a number of bytes: `56 kB`."""
    amount, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "bytes" or amount >= 10 else f"{amount:.1f} {unit}"


def counted(number: int, what: str) -> str:
    """Format a number of things: `1 line`, `2 lines`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def shortened(text: str, most: int) -> str:
    """A text as one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def shown(value: object) -> str:
    """Format a value of a setting."""
    if isinstance(value, bool):
        return "on" if value else "off"
    text = ", ".join(map(str, value)) if isinstance(value, tuple | Mapping) else str(value)
    return text if value not in (None, "", (), {}) else "–"
