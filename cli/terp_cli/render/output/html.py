"""HTML as text and grids of cells; tags, scripts and styles are removed."""

from collections.abc import Sequence
from html.parser import HTMLParser

from terp.text.dataclasses import dataclass

LONGEST = 1_000_000
MOST_ROWS, _MOST_COLUMNS = 1_000, 500
_SILENT = frozenset({"script", "style", "head", "title", "template", "noscript", "svg", "select", "textarea"})
_BLOCKS = frozenset(
    """
    address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form h1 h2
    h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tr ul
    """.split()  # noqa: SIM905 - a table of names, to be read
)


@dataclass(frozen=True, slots=True)
class HtmlCell:
    """A cell of a grid. `spans`: it belongs to the cell above it or to its left."""

    text: str
    heading: bool = False
    spans: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: rows of equally many cells, the first `header` of them at its head."""

    rows: Sequence[Sequence[HtmlCell]]
    header: int
    classes: str


Block = str | Grid


def blocks(html: str) -> list[Block]:
    """Return the lines of text and the tables of a page, in order; only the start of a very long page."""
    reader = _Reader()
    reader.feed(html[:LONGEST])
    reader.close()
    return reader.finish()


class _Rows:
    """The rows of a table while they are read."""

    def __init__(self, classes: str) -> None:
        self.classes = classes
        self.header = 0
        self.in_head = False
        self.cell: list[str] | None = None
        self._rows: list[list[HtmlCell]] = []
        self._row: list[HtmlCell] | None = None
        self._span = (1, 1)
        self._heading = False
        # By column: the cell that reaches down, and into how many more rows.
        self._down: dict[int, tuple[HtmlCell, int]] = {}

    def begin_row(self) -> None:
        self.end_row()
        if len(self._rows) < MOST_ROWS:
            self._row = []

    def begin_cell(self, tag: str, columns: int, rows: int) -> None:
        self.end_cell()
        if self._row is None:
            self.begin_row()
        self.cell, self._span, self._heading = [], (columns, rows), tag == "th"

    def end_cell(self) -> None:
        if self.cell is None or self._row is None:
            self.cell = None
            return
        self._fill(self._row)
        columns, rows = self._span
        cell = HtmlCell(" ".join("".join(self.cell).split()), self._heading)
        for number in range(min(columns, _MOST_COLUMNS - len(self._row))):
            if rows > 1:
                self._down[len(self._row)] = (cell, rows - 1)
            self._row.append(cell if number == 0 else HtmlCell(cell.text, cell.heading, "left"))
        self.cell = None

    def end_row(self) -> None:
        self.end_cell()
        if self._row is not None:
            self._fill(self._row)
            if self._row:
                self._rows.append(self._row)
                self.header += self.in_head
        self._row = None

    def grid(self) -> Grid | None:
        self.end_row()
        width = max(map(len, self._rows), default=0)
        rows = [[*row, *[HtmlCell("")] * (width - len(row))] for row in self._rows]
        header = self.header
        if not header and len(rows) > 1 and all(cell.heading for cell in rows[0]):
            header = 1
        return Grid(rows, header, self.classes) if rows else None

    def _fill(self, row: list[HtmlCell]) -> None:
        """Copy cells that span from rows above into the next places of this row."""
        while (down := self._down.pop(len(row), None)) is not None:
            cell, left = down
            if left > 1:
                self._down[len(row)] = (cell, left - 1)
            row.append(HtmlCell(cell.text, cell.heading, "above"))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._blocks: list[Block] = []
        self._line: list[str] = []
        self._silent = 0
        self._pre = 0
        self._tables: list[_Rows] = []
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in _SILENT:
            self._silent += 1
        elif tag == "table":
            self._begin_table(given.get("class", ""))
        elif self._tables and tag in ("thead", "tr", "th", "td"):
            self._begin_part(self._tables[-1], tag, given)
        elif tag == "br" or tag in _BLOCKS:
            self._break()
            self._pre += tag == "pre"
            if tag == "li":
                self._write("- ")
        elif tag == "img":
            self._write(f"[image: {given.get('alt') or 'without a description'}]")
        elif tag == "a":
            self._links.append(given.get("href", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif self._tables and tag in ("thead", "tr", "th", "td", "table"):
            self._end_part(self._tables[-1], tag)
        elif tag in _BLOCKS:
            self._break()
            self._pre = max(0, self._pre - (tag == "pre"))
        elif tag == "a" and self._links:
            address = self._links.pop()
            if address.startswith(("http:", "https:", "mailto:")):
                self._write(f" ({address})")

    def handle_data(self, data: str) -> None:
        self._write(data)

    def finish(self) -> list[Block]:
        while self._tables:
            self._end_table()
        self._break()
        return self._blocks

    def _begin_table(self, classes: str) -> None:
        self._break()
        self._tables.append(_Rows(classes))

    def _begin_part(self, rows: _Rows, tag: str, given: dict[str, str]) -> None:
        match tag:
            case "thead":
                rows.in_head = True
            case "tr":
                rows.begin_row()
            case _:
                rows.begin_cell(tag, _span(given.get("colspan")), _span(given.get("rowspan")))

    def _end_part(self, rows: _Rows, tag: str) -> None:
        match tag:
            case "thead":
                rows.end_row()
                rows.in_head = False
            case "tr":
                rows.end_row()
            case "table":
                self._end_table()
            case _:
                rows.end_cell()

    def _end_table(self) -> None:
        grid = self._tables.pop().grid()
        if grid is None:
            return
        if self._tables:
            # A table in a cell of another table becomes text.
            words = (cell.text for row in grid.rows for cell in row if not cell.spans)
            self._write(f" {' '.join(words)} ")
        else:
            self._blocks.append(grid)

    def _write(self, text: str) -> None:
        if self._silent:
            return
        if self._tables:
            if (cell := self._tables[-1].cell) is not None:
                cell.append(text)
        elif self._pre:
            first, *others = text.split("\n")
            self._line.append(first)
            for other in others:
                self._break(even_empty=True)
                self._line.append(other)
        else:
            self._line.append(
                " ".join(text.split()).join((" " * text[:1].isspace(), " " * text[-1:].isspace()))
            )

    def _break(self, *, even_empty: bool = False) -> None:
        if self._tables:
            self._write(" ")
            return
        line = "".join(self._line)
        line = line.rstrip() if self._pre else " ".join(line.split())
        self._line = []
        if line or even_empty:
            self._blocks.append(line)


def _span(number: str | None) -> int:
    # Of more digits than these Python makes no number.
    digits = (number or "")[:9]
    return max(1, min(int(digits), MOST_ROWS)) if digits.isascii() and digits.isdigit() else 1
