"""A picture as part of what is printed for good."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Graphic:
    """A picture that takes the place of `rows` rows and of `columns` cells from the left.

    `escape` is written once, as it is, in plain style and with the cursor in column 0 of a row on
    which, and below which, nothing is left. It scrolls for the room it needs, and leaves the cursor
    in column 0 of the row after the picture. Nothing else may be written in between.
    """

    rows: int
    columns: int
    escape: str


def placed(drawing: str, columns: int, rows: int) -> Graphic:
    """A graphic of a sequence that draws at the cursor and leaves the cursor anywhere."""
    # Terminals disagree on where the cursor is after a picture, and on whether one scrolls: the room
    # is made before, and the cursor is put back to where it was.
    room = "\n" * rows + f"\x1b[{rows}A"
    return Graphic(rows, columns, f"{room}\x1b7{drawing}\x1b8\x1b[{rows}B\r")
