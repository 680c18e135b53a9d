"""Data frames: the columns that fit, the first and last rows, and the size.

The cells come from the library's HTML. pandas, polars, R and Julia all send it beside plain text, the same
in every session and from any kernel. Plain text is broken at 80 columns; the model gets that.
"""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from terp.text.dataclasses import dataclass
from terp.text.plain import counted
from terp_cli.render import look
from terp_cli.render.fold import wrapped
from terp_cli.render.output.html import Grid, HtmlCell, blocks
from terp_cli.terminal.sanitise import readable

if TYPE_CHECKING:
    from terp_cli.render.output.display import Fold

_GAP = 2
# The rule below the header, and the size.
_ROWS_AROUND = 2
# A longer text may be cut to so many cells.
_SHORT, _READABLE = 20, 12

_ELLIPSES = frozenset({"...", "…", "⋯", "⋮", "&hellip;"})
_FRAME_CLASSES = ("dataframe", "data-frame")
_PANDAS_SIZE = re.compile(r"(\d{1,18}) rows × (\d{1,18}) columns")
_POLARS_SIZE = re.compile(r"shape: \((\d[\d_]{0,24}),(?: (\d[\d_]{0,24}))?\)")
_NUMBER = re.compile(r"[-+−]?(\d[\d_, ]*)?\.?\d*([eE][-+]?\d+)?[%jiL]?(?<=[\d.%jiL])")
_LONGEST_NUMBER = 60
_MISSING = frozenset(
    {"", "NaN", "nan", "NaT", "<NA>", "None", "null", "NA", "inf", "-inf", "Inf", "-Inf", "-"}
)


@dataclass(frozen=True, slots=True)
class FrameTable:
    """The visible part of a data frame. A gap is a place of rows or columns that were not sent."""

    header: Sequence[Sequence[HtmlCell]]
    body: Sequence[Sequence[HtmlCell]]
    index: int
    """Leading columns that name the rows."""
    rows: int
    columns: int
    row_gap: int | None = None
    column_gap: int | None = None

    @classmethod
    def of_html(cls, page: str) -> Self | None:
        """Return the data frame of a page that shows one and nothing else; None for any other page."""
        parts = blocks(page)
        grids = [block for block in parts if isinstance(block, Grid)]
        if len(grids) != 1 or not any(name in grids[0].classes for name in _FRAME_CLASSES):
            return None
        said = [found for block in parts if isinstance(block, str) and (found := _size(block))]
        return cls.of_grid(grids[0], said[0] if said else None)

    @classmethod
    def of_grid(cls, grid: Grid, size: tuple[int, int] | None = None) -> Self:
        """Return a table of any kind; `size` is its number of rows and columns if a part is missing."""
        header = [list(row) for row in grid.rows[: grid.header]]
        body = [list(row) for row in grid.rows[grid.header :]]
        row_gap = next((at for at, row in enumerate(body) if _is_gap(row)), None)
        body = [row for row in body if not _is_gap(row)]
        index = _index(header, body)
        column_gap = next(
            (at for at, column in enumerate(_columns([*header[-1:], *body])) if _is_gap(column)), None
        )
        if column_gap is not None:
            for row in [*header, *body]:
                del row[column_gap]
        width = len((header or body or [[]])[0])
        rows, columns = size or (len(body), width - index)
        return cls(_named(header, index), body, index, rows, columns or width - index, row_gap, column_gap)

    @classmethod
    def of_resource(cls, resource: Mapping[str, Any]) -> Self | None:
        """The frame in a bundle of type `application/vnd.dataresource+json`; None where there is none."""
        try:
            names = [str(field["name"]) for field in resource["schema"]["fields"]]
            keys = resource["schema"].get("primaryKey") or []
            order = sorted(names, key=lambda name: name not in keys)
            body = [
                [HtmlCell(str(row.get(name, "")), name in keys) for name in order] for row in resource["data"]
            ]
        except (KeyError, TypeError, AttributeError):
            return None
        index = sum(name in keys for name in names)
        header = [[HtmlCell("" if name in keys and name == "index" else name, True) for name in order]]
        return cls(header, body, index, len(body), len(names) - index)

    @property
    def size(self) -> str:
        """Return the size of the whole frame, in words."""
        return f"{counted(self.rows, 'row')} × {counted(self.columns, 'column')}"

    def drawn(self, width: int, fold: "Fold") -> list[Text]:
        """The frame in rows of at most `width` cells, its size last; as many as `fold` allows."""
        return [*self.table(width, fold), *wrapped(Text(self.size, look.DIM), width)]

    def table(self, width: int, fold: "Fold | None" = None) -> list[Text]:
        """The rows of `drawn` without the size; all without `fold`."""
        head, tail = self._split(max(1, fold.most - len(self.header) - _ROWS_AROUND) if fold else 0)
        layout = _Layout.of(self, [*self.header, *head, *tail], width)
        if layout.width < 1:
            return []
        rows = [layout.row(cells, above, look.BOLD) for above, cells in _with_above(self.header)]
        if self.header:
            rows.append(Text("─" * layout.width, look.RULE))
        rows += [layout.row(cells, above) for above, cells in _with_above(head)]
        if (hidden := self.rows - len(head) - len(tail)) > 0:
            # Rows that were not sent cannot be shown.
            recalled = fold if self.rows == len(self.body) else None
            count = recalled.more(hidden, "row") if recalled else f"… {counted(hidden, 'row')} …"
            rows.append(Text(count, look.DIM))
        rows += [layout.row(cells, above) for above, cells in _with_above(tail)]
        for row in rows:
            row.rstrip()
            row.truncate(width, overflow="ellipsis")
        return rows

    def _split(self, most: int) -> tuple[Sequence[Sequence[HtmlCell]], Sequence[Sequence[HtmlCell]]]:
        """Return the rows above and below the missing ones: about `most`, two thirds of them above."""
        if 0 < most < len(self.body) - 1:
            return self.body[: most - most // 3], self.body[len(self.body) - most // 3 :]
        # A count belongs where rows are missing; without a mark there, at the end.
        at = self.row_gap if self.row_gap is not None else len(self.body)
        return self.body[:at], self.body[at:]


@dataclass(frozen=True, slots=True)
class _Column:
    at: int
    width: int
    right: bool
    style: Style
    gap: str = ""
    """The text of a gap in the columns; such a column has no cells."""


@dataclass(frozen=True, slots=True)
class _Layout:
    columns: Sequence[_Column]

    @classmethod
    def of(cls, frame: FrameTable, rows: Sequence[Sequence[HtmlCell]], width: int) -> Self:
        """Return a layout of the columns that fit: the index, then as many from the start as from the end."""
        natural = [max(cell_len(_shown(cell)) for cell in column) for column in _columns(rows)]
        right = [_is_right(rows[len(frame.header) :], at) for at in range(len(natural))]
        least = [_least(one, width, whole=number) for one, number in zip(natural, right, strict=True)]
        missing = max(0, frame.columns - (len(natural) - frame.index))
        kept, gap_at = _kept(least, frame, width, missing)
        hidden = missing + len(natural) - len(kept)
        gap = f"… {hidden:,} …" if hidden else ""
        room = width - _GAP * (len(kept) - 1) - (len(gap) + _GAP if gap else 0)
        # Of a long text more than the least is shown where there is room.
        more = _shared([natural[at] - least[at] for at in kept], room - sum(least[at] for at in kept))
        columns = [
            _Column(at, least[at] + extra, right[at], look.DIM if at < frame.index else look.PLAIN)
            for at, extra in zip(kept, more, strict=True)
        ]
        if gap:
            columns.insert(gap_at, _Column(-1, len(gap), False, look.DIM, gap))
        return cls(columns)

    @property
    def width(self) -> int:
        """Cells of a whole row."""
        return sum(column.width for column in self.columns) + _GAP * (len(self.columns) - 1)

    def row(
        self, cells: Sequence[HtmlCell], above: Sequence[HtmlCell] | None, style: Style = look.PLAIN
    ) -> Text:
        """Return one row; a value is not repeated from the cell above it or to its left."""
        text = Text()
        before = -1
        for number, column in enumerate(self.columns):
            text.append(" " * _GAP if number else "")
            if column.gap:
                mark = "…" if style is look.PLAIN else "" if above else column.gap
                text.append(mark.center(column.width), column.style)
                before = -1
                continue
            cell = cells[column.at]
            said = (cell.spans == "above" and above is not None) or (
                cell.spans == "left" and before == column.at - 1
            )
            shown = "" if said else _shown(cell)
            if column.right and style is look.PLAIN and cell_len(shown) > column.width:
                # The first digits of a number are another number.
                shown = "…"
            piece = Text(shown, column.style + style)
            piece.truncate(column.width, overflow="ellipsis")
            free = " " * (column.width - cell_len(piece.plain))
            text.append_text(Text.assemble(free, piece) if column.right else Text.assemble(piece, free))
            before = column.at
        return text


def _least(natural: int, width: int, *, whole: bool) -> int:
    """Return the least width of a column: numbers, dates and short words are shown whole if possible."""
    most = natural if whole or natural <= _SHORT else _READABLE
    return min(natural, most, max(4, width // 3))


def _shared(wanted: Sequence[int], room: int) -> list[int]:
    """Divide `room`: equal shares, but none larger than needed."""
    shares = [0] * len(wanted)
    for done, at in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        shares[at] = min(wanted[at], max(0, room) // (len(wanted) - done))
        room -= shares[at]
    return shares


def _kept(least: Sequence[int], frame: FrameTable, width: int, missing: int) -> tuple[list[int], int]:
    """Return the columns that fit, in order, and how many of them come before the omitted ones."""
    index, total = frame.index, len(least)
    split = frame.column_gap if frame.column_gap is not None else total
    mark = len(f"… {missing + total:,} …") + _GAP
    if sum(least) + _GAP * (total - 1) + (mark if missing else 0) <= width:
        return list(range(total)), split
    middle = index + (total - index + 1) // 2 if frame.column_gap is None else split
    left, right = deque(range(index, middle)), deque(range(middle, total))
    room = width - mark - sum(least[:index]) - _GAP * (index - 1)
    first, last = list(range(index)), list[int]()
    while left or right:
        from_left = bool(left) and (not right or len(first) - index <= len(last))
        at = left.popleft() if from_left else right.pop()
        room -= least[at] + _GAP
        if room < 0 and (first[index:] or last):
            break
        if from_left:
            first.append(at)
        else:
            last.insert(0, at)
    return [*first, *last], len(first)


def _is_right(body: Sequence[Sequence[HtmlCell]], at: int) -> bool:
    """Return True for a column of numbers."""
    texts = [row[at].text for row in body]
    numbers = [0 < len(text) <= _LONGEST_NUMBER and bool(_NUMBER.fullmatch(text)) for text in texts]
    return any(numbers) and all(
        number or text in _MISSING for number, text in zip(numbers, texts, strict=True)
    )


def _index(header: Sequence[Sequence[HtmlCell]], body: Sequence[Sequence[HtmlCell]]) -> int:
    """Return the number of leading columns that are headings in every row."""
    if not body:
        return sum(not cell.text for cell in header[-1]) if header else 0
    return min(next((at for at, cell in enumerate(row) if not cell.heading), len(row)) for row in body)


def _named(header: list[list[HtmlCell]], index: int) -> list[list[HtmlCell]]:
    """Return the header; it also has the names of the index if there is room."""
    if len(header) < 2 or any(cell.text for cell in header[-1][index:]):
        return header
    if any(cell.text for cell in header[-2][:index]):
        return header
    return [*header[:-2], [*header[-1][:index], *header[-2][index:]]]


def _with_above(
    rows: Sequence[Sequence[HtmlCell]],
) -> list[tuple[Sequence[HtmlCell] | None, Sequence[HtmlCell]]]:
    return list(zip([None, *rows], rows, strict=False))


def _columns(rows: Sequence[Sequence[HtmlCell]]) -> list[Sequence[HtmlCell]]:
    return list(zip(*rows, strict=True))


def _is_gap(cells: Sequence[HtmlCell]) -> bool:
    return len(cells) > 0 and all(cell.text in _ELLIPSES for cell in cells)


def _shown(cell: HtmlCell) -> str:
    return readable(" ".join(cell.text.split()))


def _size(text: str) -> tuple[int, int] | None:
    if found := _PANDAS_SIZE.fullmatch(text) or _POLARS_SIZE.fullmatch(text):
        rows, columns = (int(number.replace("_", "")) for number in found.groups("1"))
        return rows, columns
    return None


def page_rows(page: str, width: int) -> list[Text]:
    """Return the rows of a page: its text, wrapped to `width` cells, and its tables."""
    rows: list[Text] = []
    for part in blocks(page):
        if isinstance(part, str):
            rows += wrapped(Text(readable(part)), width)
        else:
            rows += FrameTable.of_grid(part).table(width)
    return rows
