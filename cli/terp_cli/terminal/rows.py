"""Rows of runs, and pictures, as bytes for a terminal, with few escape sequences; without rich styles."""

import re
from collections.abc import Sequence
from functools import lru_cache

from terp.text.dataclasses import dataclass

Run = tuple[str, str]
"""Text without controls, and the SGR parameters it is drawn with ("" for plain), then `|` and its link."""

Row = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Graphic:
    """A picture of `rows` rows and `columns` cells, from the left.

    `escape` is written once, in plain style and with the cursor in column 0 of an empty row with nothing
    below it. It scrolls for the room it needs, and leaves the cursor in column 0 of the row after the
    picture. Nothing else may be written in between.
    """

    rows: int
    columns: int
    escape: str


# Characters whose width every terminal agrees on and that never join with a neighbour.
_ONE_CELL = " -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u2010-\u2027\u2500-\u259f\u2801-\u28ff"
_SINGLE = re.compile(f"[{_ONE_CELL}]*")
_CERTAIN = re.compile(f"[{_ONE_CELL}\u3041-\u3096\u4e00-\u9fff]*")


def width_of(text: str) -> int:
    """Return the cells of a text."""
    if _SINGLE.fullmatch(text):
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415  (the prompt is there before rich is needed)

    return cell_len(text)


def encode(row: Row) -> str:
    """Return a row with its sequences; it begins and ends in the plain style."""
    parts: list[str] = []
    current = shown = link = ""
    for text, sgr in row:
        if sgr != current:
            before, (shown, _, address) = shown, sgr.partition("|")
            if address != link:
                # OSC 8: terminals that know no links ignore it.
                parts.append(f"\x1b]8;;{address}\x1b\\")
                link = address
            if shown != before:
                parts.append(_change(before, shown))
            current = sgr
        parts.append(text)
    if link:
        parts.append("\x1b]8;;\x1b\\")
    if shown:
        parts.append("\x1b[m")
    return "".join(parts)


def common(old: Sequence[Row], new: Sequence[Row], final: int) -> int:
    """Return the number of leading rows that are on the screen already; `final` ones must be certain."""
    same = 0
    for before, after in zip(old, new, strict=False):
        if before != after or (same < final and not certain(after)):
            break
        same += 1
    return same


def difference(old: Row, new: Row) -> tuple[int, bool, Row]:
    """Return the column up to which two rows agree, True if the old one has more, and the runs to write."""
    column = 0
    for at, (before, after) in enumerate(zip(old, new, strict=False)):
        if before == after and _is_certain(after[0]):
            column += width_of(after[0])
            continue
        if before[1] != after[1]:
            return column, True, new[at:]
        cut = _shared(before[0], after[0])
        gone = cut < len(before[0]) or len(old) > at + 1
        return column + width_of(after[0][:cut]), gone, ((after[0][cut:], after[1]), *new[at + 1 :])
    shared = min(len(old), len(new))
    if shared < len(new) and not _is_certain(new[shared][0][:1]):
        return 0, True, new
    return column, len(old) > shared, new[shared:]


def _shared(before: str, after: str) -> int:
    """Return the number of leading characters that two runs share, all of certain width."""
    longest = min(len(before), len(after))
    cut = next((at for at in range(longest) if before[at] != after[at]), longest)
    agreed = _CERTAIN.match(after, 0, cut)
    sure = agreed.end() if agreed else 0
    if sure < cut:
        return max(0, sure - 1)
    if not (_is_certain(before[cut : cut + 1]) and _is_certain(after[cut : cut + 1])):
        return max(0, cut - 1)
    return cut


def _is_certain(text: str) -> bool:
    return _CERTAIN.fullmatch(text) is not None


def certain(row: Row) -> bool:
    """Return True if all terminals give the row the same width."""
    return all(_is_certain(text) for text, _ in row)


def cells(row: Row) -> int:
    """Return the cells of a row."""
    return sum(width_of(text) for text, _ in row)


def folded(row: Row, width: int) -> list[Row]:
    """Cut a row into rows of at most `width` cells, between any two characters."""
    if cells(row) <= width:
        return [row]
    parts: list[list[Run]] = [[]]
    room = width
    for character, sgr in ((character, sgr) for text, sgr in row for character in text):
        taken = width_of(character)
        if taken > room:
            parts.append([])
            room = width
        room -= taken
        parts[-1].append((character, sgr))
    return [tuple(part) for part in parts]


def plain(row: Row) -> str:
    """Return the text of a row without blanks."""
    return "".join("".join(text for text, _ in row).split())


def after_text(rows: Sequence[Row | Graphic], text: str) -> tuple[int, list[Row], str]:
    """Return the number of rows that begin with `text`, the rest of the last one, and the rest of `text`.

    `text` has no blanks. Only its letters and digits need to be there: the marks around them may have changed
    (a closed `**`, a longer rule). Where rows and text differ, the rest of the rows begins, and no text is
    left.
    """
    for at, row in enumerate(rows):
        if not text or isinstance(row, Graphic):
            return at, [], ""
        end, text = _shared_text("".join(piece for piece, _ in row), text)
        if not text:
            rest = _after(row, end)
            return at + 1, [rest] if rest else [], ""
    return len(rows), [], text


def _shared_text(row: str, text: str) -> tuple[int, str]:
    """Return the end of what `row` has of `text`, and the text after it: "" at the end or if they differ."""
    end = at = place = 0
    while place < len(text):
        while at < len(row) and row[at].isspace():
            at += 1
        if at == len(row):
            return end, text[place:]
        if row[at] == text[place]:
            at, place = at + 1, place + 1
            end = at
        elif not text[place].isalnum():
            place += 1
        elif not row[at].isalnum():
            at += 1
        else:
            # The word that differs is not shown.
            return row.rfind(" ", 0, at) + 1, ""
    return end, ""


def _after(row: Row, end: int) -> Row:
    """Return a row without its first `end` characters but its indentation; () if there is no word left."""
    whole = "".join(text for text, _ in row)
    rest = whole[end:].lstrip()
    if not rest or not end:
        return row if rest else ()
    indent = whole[: len(whole) - len(whole.lstrip())]
    runs: list[Run] = [(indent, "")] if indent else []
    left = len(whole) - len(rest)
    for text, sgr in row:
        if len(text) > left:
            runs.append((text[left:], sgr))
        left = max(0, left - len(text))
    return tuple(runs)


@lru_cache(maxsize=4096)
def _change(before: str, after: str) -> str:
    if after == "":
        return "\x1b[m"
    if before and (_is_colour(before) and _is_colour(after)):
        return f"\x1b[{after}m"
    # An empty parameter is a reset (ECMA-48, 8.3.117): it ends the style before.
    return f"\x1b[{';' if before else ''}{after}m"


def _is_colour(sgr: str) -> bool:
    """Return True if `sgr` only sets a foreground, so that another one replaces it."""
    return (sgr.startswith("38;") and "48;" not in sgr) or (
        sgr.isdigit() and (30 <= int(sgr) <= 37 or 90 <= int(sgr) <= 97)
    )


def placed(drawing: str, columns: int, rows: int) -> Graphic:
    """Return a graphic of a sequence that draws at the cursor and leaves it anywhere."""
    # Terminals disagree on where the cursor is after a picture, and on whether one scrolls: the room
    # is made before, and the cursor is put back to where it was.
    room = "\n" * rows + f"\x1b[{rows}A"
    return Graphic(rows, columns, f"{room}\x1b7{drawing}\x1b8\x1b[{rows}B\r")
