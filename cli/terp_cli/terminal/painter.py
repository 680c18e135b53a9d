"""The only writer to a terminal: appends final rows, and repaints the live rows below them.

    painter = Painter(sys.stdout, size)
    painter.update(finished, tail)      # the renderer's final rows, and those that may still change
    painter.place(bottom, (1, 4))       # the input line below, and the cursor in it

Appended rows never change. The live rows are the tail, the lines written while it grows (`aside`), and the
bottom; they are compared with the screen and only differences are written, so a tail that becomes final
unchanged costs nothing, and the bottom moves down by inserted lines above it.
"""

from collections.abc import Callable, Sequence
from typing import TextIO

from terp_cli.terminal.rows import Graphic, Row, cells, certain, common, difference, encode, folded
from terp_cli.terminal.terminal_facts import PendingFacts, TerminalFacts

Place = tuple[int, int]
"""A row and a column, counted from 0."""


class Pen:
    """Writer that knows the place of the cursor: rows from the first live one, columns from 0."""

    def __init__(self, at: Place, *, fresh: bool) -> None:
        """`fresh`: the cursor is at the start of an empty row, the next to be written."""
        self.row, self.column = at
        self.fresh = fresh
        self._parts: list[str] = []

    def written(self) -> str:
        """Return all that was written."""
        return "".join(self._parts)

    def put(self, sequence: str) -> None:
        """Write a sequence that does not move the cursor."""
        self._parts.append(sequence)

    def draw(self, text: str, column: int) -> None:
        """Write text that ends before `column`."""
        self._parts.append(text)
        self.column, self.fresh = column, False

    def picture(self, escape: str) -> None:
        """Write a picture, which ends at the start of the row below."""
        self._parts.append(escape)
        self.row, self.column, self.fresh = self.row + 1, 0, True

    def down(self, rows: int) -> None:
        """Go down to the start of a row; the screen scrolls at its end."""
        self._parts.append("\r\n" * rows)
        self.row, self.column, self.fresh = self.row + rows, 0, True

    def to(self, row: int, column: int | None = None) -> None:
        """Go to an existing row; the column stays if it is None."""
        if row != self.row:
            self._parts.append(f"\x1b[{self.row - row}A" if row < self.row else f"\x1b[{row - self.row}B")
            self.row = row
            self.fresh = False
        if column is not None and column != self.column:
            self._parts.append(f"\r\x1b[{column}C" if column else "\r")
            self.column = column


Size = Callable[[], tuple[int, int]]
"""The present columns and rows of the terminal."""

_ANYWHERE = -1
# Stands for a picture in a comparison of rows: no row is equal to it.
_PICTURE: Row = (("", "picture"),)
# Erases from the first column on. `ED` in the top left corner would move the erased rows into the
# scrollback of tmux ("scroll-on-clear"), where they would stay as a torn copy.
_ERASE_BELOW = "\x1b[K\x1b[C\x1b[J\r"
_SYNCHRONISED = "\x1b[?2026h", "\x1b[?2026l"


class Painter:
    """Painter of a terminal that moves its cursor; with `live=False` it only appends.

    `scrolls_broken`: a window that becomes narrower breaks long rows and moves the first ones into the
    scrollback, as tmux does.
    """

    def __init__(self, out: TextIO, size: Size, *, live: bool = True, scrolls_broken: bool = False) -> None:
        self.live = live
        self._scrolls_broken = scrolls_broken
        self.pending = PendingFacts()
        self.out = out
        self._size = size
        self._tail: Sequence[Row] = ()
        self._aside: list[Row] = []
        self._grows = self._parted = False
        self._bottom: Sequence[Row] = ()
        self._cursor: Place | None = None
        self._shown: list[Row] = []
        self._at: Place = (0, 0)
        self._ends_blank = False
        self._shown_tail = 0
        self._shown_width = 0
        # Text of the tail that a narrower window has pushed into the scrollback, without blanks.
        self._lost = ""
        self._held: list[Row | Graphic] | None = None

    @property
    def facts(self) -> TerminalFacts:
        """The facts about the terminal that are known so far."""
        return self.pending.facts

    @property
    def width(self) -> int:
        """Cells of a row, at least 20."""
        return max(20, self._size()[0])

    @property
    def rows(self) -> int:
        """The rows of the terminal."""
        return self._size()[1]

    @property
    def tail_rows(self) -> int:
        """Rows for the tail: at most 12, so that four earlier rows stay in sight."""
        if not self.live:
            return 0
        return max(1, min(self.rows - max(4, len(self._bottom) + 2), 12))

    def update(
        self,
        finished: Sequence[Row | Graphic],
        tail: Sequence[Row] | None = None,
        *,
        grows: bool = False,
    ) -> None:
        """Append `finished`, and show `tail` below (None: the one there is); one write, or none.

        `grows`: the block of the tail is not complete. When it is, the rows of `aside` are appended.
        """
        if self._lost:
            finished, tail = self._without_lost(finished, tail)
        if tail is not None:
            self._tail = tail[-self.tail_rows :] if self.live else ()
            self._grows = grows
        if self._grows or not self._aside:
            self._paint(finished)
            return
        gap = () if self._blank_after(finished) else ((),)
        aside, self._aside = self._aside, []
        self._paint([*finished, *gap, *aside, ()])
        self._parted = True

    def aside(self, rows: Sequence[Row]) -> bool:
        """Append rows, below a block that still grows; return False if there is no room for them."""
        if not self._grows:
            self.update(rows)
            return True
        if not self.live or len(self._aside) + len(rows) > self.rows // 3:
            return False
        self._aside += rows
        self._paint(())
        return True

    def place(self, bottom: Sequence[Row], cursor: Place | None) -> None:
        """Show `bottom` below everything, with the cursor at that row and column of it."""
        self._bottom, self._cursor = (bottom, cursor) if self.live else ((), None)
        self._paint(())

    def pause(self) -> None:
        """Erase the live rows and write nothing until `resume`."""
        if self._held is not None:
            return
        self._write(self._erased())
        self._held = []

    def resume(self) -> None:
        """Write again; begin with the rows that came meanwhile."""
        held, self._held = self._held, None
        if held is not None:
            self._paint(held)

    def clear(self) -> None:
        """Clear the screen; the scrollback stays."""
        self.pause()
        self._write("\x1b[H\x1b[2J")
        self.resume()

    def send(self, sequence: str) -> None:
        """Write a sequence that neither moves nor draws: a mode, a title, a bell."""
        self._write(sequence)

    def _paint(self, finished: Sequence[Row | Graphic]) -> None:
        if self._held is not None:
            self._held += finished
            return
        if finished and self._parted:
            # There is a blank row already.
            finished, self._parted = finished[self._blank_after(finished[:1]) :], False
        self._ends_blank = self._blank_after(finished)
        bottom = self._bottom[self._spared() :]
        # The window may have become narrower since, and moving up counts each row as one of the screen.
        tail = [part for row in self._tail for part in folded(row, self.width)]
        tail += [(), *self._aside] if self._aside else []
        bottom = [folded(row, self.width)[0] for row in bottom]
        # The bottom may have grown since the tail came; rows off the screen cannot be repainted.
        live = [*tail[max(0, len(tail) + len(bottom) - self.rows) :], *bottom]
        painted = self._erased() if self._shown and self.width != self._shown_width else ""
        pen = Pen(self._at, fresh=not self._shown)
        rows = [*finished, *live]
        self._change(pen, rows, len(finished))
        self._leave(pen, len(finished), len(live), len(bottom))
        painted += pen.written()
        self._at = pen.row - len(finished), pen.column
        self._shown, self._shown_width = live, self.width
        self._shown_tail = len(live) - len(bottom) - (len(self._aside) + 1 if self._aside else 0)
        if painted and live and self.facts.synchronised:
            painted = painted.join(_SYNCHRONISED)
        self._write(painted)

    def _pushed_off(self) -> str:
        """Return the text of tail rows that left the screen as it became narrower, without blanks.

        The terminal has broken the rows that became too long, and the live rows end at the last row of the
        screen. Rows in the scrollback cannot be erased, so they must not be written again.
        """
        parts = [max(1, -(-cells(row) // self.width)) for row in self._shown]
        left, lost = sum(parts) - self.rows, ""
        for row, count in zip(self._shown[: self._shown_tail], parts, strict=False):
            if left <= 0:
                break
            lost += "".join(_plain(part) for part in folded(row, self.width)[: min(left, count)])
            left -= count
        return lost

    def _without_lost(
        self, finished: Sequence[Row | Graphic], tail: Sequence[Row] | None
    ) -> tuple[Sequence[Row | Graphic], Sequence[Row] | None]:
        """Return the rows without those at their beginning whose text is in the scrollback."""
        for at, row in enumerate(finished):
            text = _plain(row) if isinstance(row, tuple) else None
            if text is None or not self._lost.startswith(text):
                self._lost = ""
            if not self._lost:
                return finished[at:], tail
            self._lost = self._lost.removeprefix(text or "")
        lost, at = self._lost, 0
        while tail and at < len(tail) and lost and lost.startswith(_plain(tail[at])):
            lost, at = lost.removeprefix(_plain(tail[at])), at + 1
        return (), tail[at:] if tail else tail

    def _blank_after(self, finished: Sequence[Row | Graphic]) -> bool:
        """Return True if the last row above the live ones is blank once these are appended."""
        if not finished:
            return self._ends_blank
        last = finished[-1]
        return isinstance(last, tuple) and not any(text.strip() for text, _ in last)

    def _spared(self) -> int:
        """Return 1 if the bottom's blank first row is not needed, because there is one above it; else 0."""
        above = not any(text for text, _ in self._tail[-1]) if self._tail else self._ends_blank
        return 1 if above and len(self._bottom) > 1 and not self._bottom[0] else 0

    def _write(self, painted: str) -> None:
        if painted:
            self.out.write(painted)
            self.out.flush()

    def _erased(self) -> str:
        """Return the sequence that erases the live rows and puts the cursor where they began."""
        if not self._shown:
            return ""
        # A terminal that was made narrower has broken the rows that became too long.
        row, column = self._at
        width = self.width if self.width != self._shown_width else max(self.width, self._shown_width)
        above = sum(max(1, -(-cells(shown) // width)) for shown in self._shown[:row])
        if self.width != self._shown_width:
            self._lost += self._pushed_off() if self._scrolls_broken else ""
            end = cells(self._shown[row])
            above += min(column if column >= 0 else end, max(0, end - 1)) // width
        self._shown, self._at = [], (0, 0)
        return (f"\x1b[{above}A" if above else "") + "\r" + _ERASE_BELOW

    def _change(self, pen: Pen, rows: Sequence[Row | Graphic], final: int) -> None:
        """Show `rows` in place of the live ones; the first `final` of them never change again."""
        old = self._shown
        plain = [row if isinstance(row, tuple) else _PICTURE for row in rows]
        same = common(old, plain, final)
        if same == len(old) == len(rows):
            return
        if not rows:
            pen.to(0, 0)
            pen.put(_ERASE_BELOW)
            return
        kept = _common_end(old[same:], plain[max(same, final) :])
        more = len(rows) - len(old)
        if old and (kept or not more) and self._in_reach(plain[same:final], more):
            self._insert(pen, plain, same, kept)
        else:
            self._rewrite(pen, rows, final, same)

    def _in_reach(self, finished: Sequence[Row], more: int) -> bool:
        """Return True if each row takes one row of the screen, and the cursor can reach all of them."""
        reached = len(self._shown) + max(0, more) < self.rows
        return reached and all(
            row is not _PICTURE and certain(row) and cells(row) <= self.width for row in finished
        )

    def _insert(self, pen: Pen, rows: Sequence[Row], same: int, kept: int) -> None:
        """Change the rows between the first `same` and the last `kept`, which stay unchanged."""
        old = self._shown
        more = len(rows) - len(old)
        if more > 0:
            pen.to(len(old) - 1)
            pen.down(more)
            pen.to(len(old) - kept, 0)
            pen.put(f"\x1b[{more}L")
        elif more < 0:
            pen.to(len(rows) - kept, 0)
            pen.put(f"\x1b[{-more}M")
        for at in range(same, len(rows) - kept):
            before = old[at] if at < len(old) - kept else ()
            if before != rows[at]:
                self._redraw(pen, at, before, rows[at], "\x1b[K")

    def _rewrite(self, pen: Pen, rows: Sequence[Row | Graphic], final: int, same: int) -> None:
        """Keep the first `same` rows of the screen and write all others again."""
        old, at = self._shown, same
        if same < len(old):
            after = rows[same] if same < len(rows) else ()
            if isinstance(after, tuple) and same < len(rows):
                self._redraw(pen, same, old[same], after, "\x1b[J", final=same < final)
                at += 1
            else:
                pen.to(same, 0)
                pen.put(_ERASE_BELOW)
                pen.fresh = True
        elif same:
            pen.to(same - 1)
        for number, row in enumerate(rows[at:], at):
            if not pen.fresh:
                pen.down(1)
            if isinstance(row, tuple):
                pen.draw(encode(row) if number < final else _drawn(row), self._end(row))
            else:
                pen.picture(row.escape)

    def _redraw(self, pen: Pen, at: int, before: Row, after: Row, erase: str, *, final: bool = False) -> None:
        """Change row `at` from `before` to `after`; `erase` removes a longer end."""
        column, gone, rest = difference(before, after)
        gone = gone or (erase == "\x1b[J" and len(self._shown) > at + 1)
        if column >= self.width:
            # The cursor cannot go beyond the last column.
            column, gone, rest = 0, True, after
        pen.to(at, column)
        if gone:
            pen.put(_ERASE_BELOW if erase == "\x1b[J" and not column else erase)
        pen.draw(encode(rest) if final else _drawn(rest), self._end(after))

    def _end(self, row: Row) -> int:
        """Return the column after a row, if it is certain."""
        end = cells(row)
        # After the last column a terminal may be on the next row already, or not.
        return end if end < self.width and certain(row) else _ANYWHERE

    def _leave(self, pen: Pen, final: int, live: int, bottom: int) -> None:
        """Put the cursor at its place in the bottom, else after the last row."""
        if not live:
            if final and not pen.fresh:
                pen.to(final - 1)
                pen.down(1)
            return
        if self._cursor is not None:
            spared = len(self._bottom) - bottom
            pen.to(final + live - bottom + self._cursor[0] - spared, self._cursor[1])
        else:
            pen.to(final + live - 1)


def _plain(row: Row) -> str:
    """Return the text of a row without blanks."""
    return "".join("".join(text for text, _ in row).split())


def _common_end(old: Sequence[Row], new: Sequence[Row]) -> int:
    """Return the number of equal rows at the end."""
    same = 0
    for before, after in zip(reversed(old), reversed(new), strict=False):
        if before != after:
            break
        same += 1
    return same


def _drawn(row: Row) -> str:
    # If a character is wider on the terminal than here, the row must not wrap: the cursor would then
    # move up one row too few. It is written whole when it becomes final.
    return encode(row) if certain(row) else f"\x1b[?7l{encode(row)}\x1b[?7h"
