"""The only writer to a terminal: appends final rows, and repaints the live rows below them.

    painter = Painter(sys.stdout, size)
    painter.update(finished, tail, passing)     # the renderer's final rows, and those that may still change
    painter.place(bottom, (1, 4))               # the input line below, and the cursor in it

Appended rows never change. The live rows are the tail, the passing rows below it, the lines written while it
grows (`aside`), and the bottom; they are compared with the screen and only differences are written, so a
tail that becomes final unchanged costs nothing, and the bottom moves down by inserted lines above it.

A terminal that changes its width breaks or joins rows, and moves some into or out of its scrollback, where
nothing can be erased. Therefore all rows of the tail but the last become final when the size changes, where
and as they are; only what is below them is erased and painted again. That waits until the size stays: a
terminal multiplexer reports a change up to 0.25 s after it has broken the rows.
"""

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from terp_cli.terminal.rows import (
    Graphic,
    Row,
    after_text,
    cells,
    certain,
    common,
    difference,
    encode,
    folded,
    plain,
)
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
_STEADY_S = 0.3
# Stands for a picture in a comparison of rows: no row is equal to it.
_PICTURE: Row = (("", "picture"),)
# Erases from the first column on. `ED` in the top left corner would move the erased rows into the
# scrollback of tmux ("scroll-on-clear"), where they would stay as a torn copy.
_ERASE_BELOW = "\x1b[K\x1b[C\x1b[J\r"
_SYNCHRONISED = "\x1b[?2026h", "\x1b[?2026l"


class Painter:
    """Painter of a terminal that moves its cursor; with `live=False` it only appends."""

    def __init__(
        self, out: TextIO, size: Size, *, live: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.live = live
        self._clock = clock
        self.pending = PendingFacts()
        self.out = out
        self._size = size
        self._tail: Sequence[Row] = ()
        self._passing: Sequence[Row] = ()
        self._aside: list[Row] = []
        self._grows = self._parted = False
        self._bottom: Sequence[Row] = ()
        self._cursor: Place | None = None
        self._shown: list[Row] = []
        self._at: Place = (0, 0)
        self._ends_blank = False
        self._shown_tail = 0
        self._known_size = (0, 0)
        # The rows on the screen are those of another size, which may change again until then.
        self._resized = False
        self._steady_at = 0.0
        # Text of the unfinished block that became final when the size changed, without blanks.
        self._settled = ""
        self._held: list[Row | Graphic] = []
        self.remembers = 0
        """Number of final rows that are kept for `redraw`, and in a pause; 0: none, and all. Can be set."""
        self._remembered: list[Row | Graphic] = []
        self._paused = False

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
        """Rows of an unfinished block that are needed: what has room below four earlier rows.

        Each character that became final when the size changed may begin with a row of its own.
        """
        return self._room + len(self._settled) if self.live else 0

    @property
    def _room(self) -> int:
        return max(1, self.rows - max(4, len(self._bottom) + 2))

    @property
    def waits_s(self) -> float:
        """Seconds for which nothing is painted because the size has just changed; then paint again.

        It is 0 if nobody would: there is no prompt, and no block that grows.
        """
        waits = self._resized and (self._grows or bool(self._bottom))
        return max(0.0, self._steady_at - self._clock()) if waits else 0.0

    def update(
        self,
        finished: Sequence[Row | Graphic],
        tail: Sequence[Row] | None = None,
        passing: Sequence[Row] = (),
        *,
        grows: bool = False,
    ) -> None:
        """Append `finished`, and show `tail` and `passing` below (`tail` None: those there are).

        The rows of the tail become final with little change, those of `passing` do not. `grows`: the block
        of the tail is not complete. When it is, the rows of `aside` are appended. It is one write, or none.
        """
        self._settle()
        if tail is not None:
            if self._settled:
                begun, rest, self._settled = after_text(finished, self._settled)
                finished = [*rest, *finished[begun:]]
                begun, rest, _ = after_text(tail, self._settled)
                tail = [*rest, *tail[begun:]]
            self._settled = self._settled if grows else ""
            self._tail, self._passing = (tail, passing) if self.live else ((), ())
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
        if self._paused:
            return
        self._settle()
        self._write(self._erased())
        self._paused = True

    def resume(self) -> None:
        """Write again; begin with the rows that came meanwhile."""
        if self._paused:
            self._paused = False
            self._paint(())

    def redraw(self) -> None:
        """Begin with a screen of remembered rows at the next `resume`: the terminal is another one."""
        self._held = [*self._remembered[-self.rows :], *self._held]
        self._remembered, self._ends_blank = [], False

    def clear(self) -> None:
        """Clear the screen; the scrollback stays."""
        self.pause()
        self._write("\x1b[H\x1b[2J")
        self.resume()

    def send(self, sequence: str) -> None:
        """Write a sequence that neither moves nor draws: a mode, a title, a bell."""
        self._write(sequence)

    def _paint(self, finished: Sequence[Row | Graphic]) -> None:
        self._held += finished
        self._settle()
        if self._paused or self.waits_s:
            if self.remembers:
                del self._held[: -self.remembers]
            return
        finished, self._held = self._held, []
        if self.remembers:
            self._remembered = [*self._remembered, *finished][-self.remembers :]
        if finished and self._parted:
            # There is a blank row already.
            finished, self._parted = finished[self._blank_after(finished[:1]) :], False
        self._ends_blank = self._blank_after(finished)
        # The window may have become narrower since, and moving up counts each row as one of the screen.
        self._tail = self._fitted(self._tail)
        bottom = [folded(row, self.width)[0] for row in self._bottom[self._spared() :]]
        aside = [(), *self._aside] if self._aside else []
        below = [*self._fitted([*self._passing, *aside]), *bottom]
        # Rows off the screen cannot be repainted.
        room = max(1, min(self._room - len(self._passing), self.rows - len(below)))
        live = [*self._tail[-room:], *below][-self.rows :]
        painted = self._erased() if self._resized else ""
        pen = Pen(self._at, fresh=not self._shown)
        rows = [*finished, *live]
        self._change(pen, rows, len(finished))
        self._leave(pen, len(finished), len(live), len(bottom))
        painted += pen.written()
        self._at = pen.row - len(finished), pen.column
        self._shown, self._resized = live, False
        # The tail that fills its room may have had rows above.
        self._shown_tail = len(self._tail) if len(self._tail) < room else 0
        if painted and live and self.facts.synchronised:
            painted = painted.join(_SYNCHRONISED)
        self._write(painted)

    def _fitted(self, rows: Sequence[Row]) -> list[Row]:
        """Return rows that take one row of the screen each."""
        return [part for row in rows for part in folded(row, self.width)]

    def _blank_after(self, finished: Sequence[Row | Graphic]) -> bool:
        """Return True if the last row above the live ones is blank once these are appended."""
        if not finished:
            return self._ends_blank
        last = finished[-1]
        return isinstance(last, tuple) and not any(text.strip() for text, _ in last)

    def _spared(self) -> int:
        """Return 1 if the bottom's blank first row is not needed, because there is one above it; else 0."""
        last = (*self._tail, *self._passing)[-1:]
        above = not any(text for text, _ in last[0]) if last else self._ends_blank
        return 1 if above and len(self._bottom) > 1 and not self._bottom[0] else 0

    def _write(self, painted: str) -> None:
        if painted:
            self.out.write(painted)
            self.out.flush()

    def _settle(self) -> None:
        """Make all rows of the tail but the last final, if the size has changed."""
        before, self._known_size = self._known_size, self._size()
        if not self._shown or before == self._known_size:
            return
        final = max(0, self._shown_tail - 1)
        # Rules and blank rows may be drawn again.
        while final and not any(character.isalnum() for character in plain(self._shown[final - 1])):
            final -= 1
        self._settled += "".join(plain(row) for row in self._shown[:final])
        self._tail, self._shown, self._shown_tail = self._tail[final:], self._shown[final:], 0
        self._at = self._at[0] - final, self._at[1]
        self._resized, self._steady_at = True, self._clock() + _STEADY_S

    def _erased(self) -> str:
        """Return the sequence that erases the live rows and puts the cursor where they began."""
        if not self._shown:
            return ""
        # A terminal that was made narrower has broken the rows that became too long.
        row, column = self._at
        above = sum(max(1, -(-cells(shown) // self.width)) for shown in self._shown[:row])
        end = cells(self._shown[row])
        above += min(column if column >= 0 else end, max(0, end - 1)) // self.width
        self._shown, self._at = [], (0, 0)
        return (f"\x1b[{above}A" if above else "") + "\r" + _ERASE_BELOW

    def _change(self, pen: Pen, rows: Sequence[Row | Graphic], final: int) -> None:
        """Show `rows` in place of the live ones; the first `final` of them never change again."""
        old = self._shown
        drawn = [row if isinstance(row, tuple) else _PICTURE for row in rows]
        same = common(old, drawn, final)
        if same == len(old) == len(rows):
            return
        if not rows:
            pen.to(0, 0)
            pen.put(_ERASE_BELOW)
            return
        kept = _common_end(old[same:], drawn[max(same, final) :])
        more = len(rows) - len(old)
        if old and (kept or not more) and self._in_reach(drawn[same:final], more):
            self._insert(pen, drawn, same, kept)
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
