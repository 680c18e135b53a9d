"""The table that a library shows as HTML: its cells, as text."""

from dataclasses import dataclass
from html.parser import HTMLParser

_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """A header and rows of as many cells; the header has "" over a column without a name."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def read_table(html: str) -> HtmlTable | None:
    """The first table in `html`; None without one, or when its cells span columns or rows."""
    if len(html) > _LARGEST:
        return None
    reader = _Reader()
    reader.feed(html)
    heads, rows = reader.heads, reader.rows
    width = len(heads[0]) if heads else 0
    if not rows or not width or reader.spans or any(len(row) != width for row in (*heads, *rows)):
        return None
    # pandas puts the name of the index into a row of its own, below those of the columns.
    header = tuple(" ".join(filter(None, column)) for column in zip(*heads, strict=True))
    return HtmlTable(header, tuple(map(tuple, rows)))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.heads: list[list[str]] = []
        self.rows: list[list[str]] = []
        self.spans = False
        self._over = False
        self._in_head = False
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._over:
            return
        if tag in ("thead", "tbody"):
            self._in_head = tag == "thead"
        elif tag == "tr":
            (self.heads if self._in_head else self.rows).append([])
        elif tag in ("td", "th"):
            self.spans = self.spans or any(name in ("colspan", "rowspan") for name, _ in attrs)
            self._cell = []

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._over = True
        elif tag in ("td", "th") and self._cell is not None:
            rows = self.heads if self._in_head else self.rows
            if rows and not self._over:
                rows[-1].append(" ".join("".join(self._cell).split()))
            self._cell = None
