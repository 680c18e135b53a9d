"""The table that a library shows as HTML: its cells, as text."""

from dataclasses import dataclass

from terp_cli.render.output.html import LONGEST, MOST_ROWS, Grid, blocks


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """A header and rows of as many cells; the header has "" over a column without a name."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def read_table(html: str) -> HtmlTable | None:
    """The first table in `html`; None without one, when its cells span others, or when it is very long."""
    if len(html) > LONGEST:
        return None
    grid = next((block for block in blocks(html) if isinstance(block, Grid)), None)
    if grid is None or not 0 < grid.header < len(grid.rows) < MOST_ROWS:
        return None
    if any(cell.spans for row in grid.rows for cell in row):
        return None
    texts = [tuple(cell.text for cell in row) for row in grid.rows]
    # pandas puts the name of the index into a row of its own, below those of the columns.
    header = tuple(" ".join(filter(None, column)) for column in zip(*texts[: grid.header], strict=True))
    return HtmlTable(header, tuple(texts[grid.header :]))
