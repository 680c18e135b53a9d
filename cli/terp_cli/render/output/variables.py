"""The variables of a kernel as rows: name, type, shape, size, and as much of the value as fits."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from terp.events.changes import grouped, shape_text, size_text
from terp.events.kernel import Variable
from terp_cli.render import look
from terp_cli.terminal.sanitise import one_line

_GAP = 2
# A narrower look at a value says nothing.
_LEAST_HEAD = 8
_FULL = 5_000


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    widest: int
    style: Style
    right: bool = False


_COLUMNS = (
    _Column("name", 32, look.BOLD),
    _Column("type", 20, look.PLAIN),
    _Column("shape", 20, look.PLAIN, right=True),
    _Column("size", 10, look.PLAIN, right=True),
    _Column("head", 300, look.DIM),
)


def variables_table(variables: Sequence[Variable], width: int) -> list[Text]:
    """A row for each variable below a header, each at most `width` cells; what does not fit is left out.

    The columns go from the right: first the value, then size, shape and type. Numbers are aligned at
    their ends.
    """
    if not variables:
        return [Text("There are no variables.", look.DIM)]
    cells = [_cells(variable) for variable in variables]
    widths = _widths(cells, max(1, width))
    header = _row([column.title for column in _COLUMNS], widths, header=True)
    rows = [header, *(_row(row, widths) for row in cells)]
    if len(variables) >= _FULL:
        rows.append(Text(_cut(f"the first {grouped(_FULL)} are shown", width), look.DIM))
    return rows


def _cells(variable: Variable) -> list[str]:
    size = "" if variable.size is None else size_text(variable.size)
    fields = (variable.name, variable.type, shape_text(variable.shape), size, variable.head)
    return [one_line(text) for text in fields]


def _widths(cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the widths of the columns that fit; the last of them gets the room it needs."""
    widths: list[int] = []
    for column, texts in zip(_COLUMNS, zip(*cells, strict=True), strict=True):
        wanted = min(column.widest, max(cell_len(column.title), *map(cell_len, texts)))
        room = width - sum(widths) - _GAP * len(widths)
        least = _LEAST_HEAD if column.title == "head" else wanted
        if widths and room < min(wanted, least):
            break
        widths.append(min(wanted, room))
    return widths


def _row(texts: Sequence[str], widths: Sequence[int], *, header: bool = False) -> Text:
    row = Text()
    for at, (column, text, width) in enumerate(zip(_COLUMNS, texts, widths, strict=False)):
        shown = _cut(text, width)
        pad = " " * (width - cell_len(shown))
        row.append(" " * (_GAP if at else 0))
        row.append(pad + shown if column.right else shown + pad, look.DIM if header else column.style)
    row.rstrip()
    return row


def _cut(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…"
