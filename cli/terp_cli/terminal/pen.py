"""The cursor of a terminal: what moves it, and what is written where it is."""

Place = tuple[int, int]
"""A row and a column, counted from 0."""


class Pen:
    """Writes at a cursor whose place it knows: rows counted from the first live one, columns from 0."""

    def __init__(self, at: Place, *, fresh: bool) -> None:
        """`fresh`: the cursor is at the start of a row with nothing in it, which is the next to write."""
        self.row, self.column = at
        self.fresh = fresh
        self._parts: list[str] = []

    def written(self) -> str:
        """All that was put."""
        return "".join(self._parts)

    def put(self, sequence: str) -> None:
        """Write what leaves the cursor where it is."""
        self._parts.append(sequence)

    def draw(self, text: str, column: int) -> None:
        """Write text that ends before `column`."""
        self._parts.append(text)
        self.column, self.fresh = column, False

    def picture(self, escape: str) -> None:
        """Write what ends at the start of the row below."""
        self._parts.append(escape)
        self.row, self.column, self.fresh = self.row + 1, 0, True

    def down(self, rows: int) -> None:
        """Go to the start of a later row, and make the screen scroll where there is none yet."""
        self._parts.append("\r\n" * rows)
        self.row, self.column, self.fresh = self.row + rows, 0, True

    def to(self, row: int, column: int | None = None) -> None:
        """Go to a row of the screen that exists; None for `column`: to any."""
        if row != self.row:
            self._parts.append(f"\x1b[{self.row - row}A" if row < self.row else f"\x1b[{row - self.row}B")
            self.row = row
            self.fresh = False
        if column is not None and column != self.column:
            self._parts.append(f"\r\x1b[{column}C" if column else "\r")
            self.column = column
