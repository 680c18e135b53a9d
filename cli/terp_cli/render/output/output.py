"""The output of one run: text with progress bars and floods, results, pictures and errors."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import assert_never

from rich.cells import cell_len
from rich.text import Text as Styled

from terp.events import CodeFinished, error_text
from terp.events.outputs import Clear, Display, DisplayUpdate, Error, InputRequest, Omitted, Output, Text
from terp.text.pictures import saved_to
from terp_cli.render import look
from terp_cli.render.ansi import text_of
from terp_cli.render.output.display import (
    Draw,
    Drawn,
    Fold,
    display_rows,
    lines_of,
)
from terp_cli.terminal.program_text import Line, ProgramText

_LONGEST_LINE = 3
"""Rows that one line takes."""
_OPEN = 8
"""Lines up to which a program may move its cursor and write again."""
_MOST_RESULTS = 200
"""Results of one run that are shown; pictures and pages always are."""


class OutputStream:
    """Rows of the output of one run. A flood shows its head, then a count, and at its end its tail.

    `fold` limits its lines; of a line three rows are shown.
    A traceback shows the frames of the cell and of files below `cwd`, and a count of those of libraries;
    with `whole` all frames. `cut`: lines were left out so far. `draw` draws pictures; without it only their
    files are named. `saved` are files of displayed pictures that the code itself has written.
    """

    def __init__(
        self,
        width: Callable[[], int],
        cwd: str = "",
        *,
        whole: bool = False,
        draw: Draw | None = None,
        tail_rows: Callable[[], int] = lambda: 0,
        ascii_only: bool = False,
        fold: Fold | None = None,
    ) -> None:
        self._fold = fold or Fold()
        # Lines of a flood that are shown from its end when it is over; the others while it runs.
        last = max(2, self._fold.most * 3 // 13)
        self._head = self._fold.most - last
        self._width = width
        self._cwd = cwd
        self._whole = whole
        self._draw = draw
        self._ascii_only = ascii_only
        # A bar, a gap and the status line stay in sight below what may still change.
        self._text = ProgramText(window=min(_OPEN, max(0, tail_rows() - 4)))
        self._shown = 0
        self._held: deque[Line] = deque(maxlen=last)
        self._left_out = 0
        self._left_out_chars = 0
        self._live = False
        self._void = False
        self._updates: dict[str, DisplayUpdate] = {}
        self._still: dict[str, list[Styled]] = {}
        self._results = 0
        self.cut = False
        self.saved: set[str] = set()

    def add(self, output: Output) -> list[Drawn]:
        """Return the rows that `output` finished."""
        if self._void and not isinstance(output, Clear):
            self._forget()
        rows: list[Drawn] = []
        match output:
            case Text(stream=stream, text=text):
                rows += self._lines(self._text.feed(text, is_error=stream == "stderr"))
            case Clear(wait=wait):
                self._clear(wait=wait)
            case Omitted():
                rows += self._leave_out(output)
            case Display():
                rows += self._result(output)
            case DisplayUpdate(display_id=name):
                self._updates[name] = output
                self._still.pop(name, None)
            case Error():
                rows += self.settle() + self._error(output)
            case InputRequest():
                rows += self.settle()
            case _:
                assert_never(output)
        return rows

    def settle(self) -> list[Styled]:
        """Return all held rows. Called when another block follows, or the run is over."""
        rows = self._lines(self._text.finish())
        self.cut = self.cut or self._left_out > 0 or self._left_out_chars > 0
        rows += [*self._count(self._left_out), *map(self._line, self._held)]
        self._shown, self._left_out, self._left_out_chars, self._live = 0, 0, 0, False
        self._held.clear()
        return rows

    def finish(self) -> list[Drawn]:
        """Return the remaining rows at the end of the run."""
        rows: list[Drawn] = [*self.settle()]
        updates = self._updates.values()
        rows += self._fold.rows([row for update in updates for row in self._display(update, self._draw)])
        if self._results > _MOST_RESULTS:
            rows.append(Styled(f"… {self._results - _MOST_RESULTS:,} more results …", look.DIM))
        self._updates, self._results = {}, 0
        return rows

    def tail(self, limit: int) -> list[Styled]:
        """Return the last rows that may still change."""
        updates = [row for name, update in self._updates.items() for row in self._still_of(name, update)]
        lines = [*self._held, *self._text.open_lines]
        room = max(1, limit - 1 - len(updates))
        hidden = max(0, len(lines) - room) if self._left_out or len(self._held) else 0
        count = self._count(self._left_out + hidden)
        return [*count, *[*(self._line(line) for line in lines), *updates][-(limit - len(count)) :]]

    def _still_of(self, name: str, update: DisplayUpdate) -> list[Styled]:
        if name not in self._still:
            # What is drawn here is painted over, which a picture cannot be.
            shown = self._display(update, None)
            self._still[name] = [row for row in shown if isinstance(row, Styled)]
        return self._still[name]

    def _lines(self, lines: Sequence[Line]) -> list[Styled]:
        room = 0 if self._live else max(0, self._head - self._shown)
        now, later = lines[:room], lines[room:]
        self._shown += len(now)
        self._left_out += max(0, len(self._held) + len(later) - (self._held.maxlen or 0))
        self._held.extend(later)
        return [self._line(line) for line in now]

    def _line(self, line: Line) -> Styled:
        """Return a line; of a long one the beginning."""
        text, most = text_of(line), self._width() * _LONGEST_LINE
        if self._whole or not most or len(text) * 2 <= most or cell_len(text.plain) <= most:
            return text
        self.cut = True
        more = f"… · {self._fold.recall}" if self._fold.recall else "…"
        text.truncate(most - len(more) - 1)
        return text.append(f" {more}", look.DIM)

    def _leave_out(self, omitted: Omitted) -> list[Styled]:
        rows = self._lines(self._text.finish())
        self._shown = max(self._shown, self._head)
        self._left_out += len(self._held) + omitted.lines
        self._left_out_chars += omitted.characters
        self._held.clear()
        return rows

    def _count(self, lines: int) -> list[Styled]:
        """Return the row with the count of hidden lines, if any."""
        if lines:
            return [Styled(self._fold.more(lines, "line"), look.DIM)]
        if self._left_out_chars:
            return [Styled(self._fold.more(self._left_out_chars, "character"), look.DIM)]
        return []

    def _clear(self, *, wait: bool) -> None:
        # What is on the screen for good stays; what comes next is shown where it can be replaced.
        self._live = True
        self._void = True
        if not wait:
            self._forget()

    def _forget(self) -> None:
        self._text.clear()
        self._held.clear()
        self._left_out = self._left_out_chars = 0
        self._updates = {}
        self._void = False

    def _result(self, display: Display) -> list[Drawn]:
        if not display.path:
            self._results += 1
            if self._results > _MOST_RESULTS:
                return []
        return [*self.settle(), *self._display(display, self._draw)]

    def _display(self, display: Display | DisplayUpdate, draw: Draw | None) -> list[Drawn]:
        saved = saved_to(display.metadata) if display.path else ""
        if saved:
            self.saved.add(saved)
        return display_rows(
            display.data,
            saved or display.path,
            self._width,
            draw,
            ascii_only=self._ascii_only,
            fold=self._fold,
        )

    def _error(self, error: Error) -> list[Styled]:
        if self._whole:
            return lines_of("\n".join(error.traceback) or f"{error.name}: {error.value}")
        traceback = error_text.readable(error, self._cwd)
        rows = lines_of(traceback)
        for row in rows:
            if row.plain.startswith("--"):
                row.stylize(look.BAD)
            elif row.plain.startswith("  ["):
                row.stylize(look.DIM)
        for last in rows[-1:]:
            last.stylize(look.BAD)
        self.cut = self.cut or "library frame" in traceback or len(rows) > self._fold.most
        return self._fold.rows(rows, last=True)


class Interruption:
    """Holder of a `KeyboardInterrupt` until the end of its run shows its cause."""

    def __init__(self) -> None:
        self._kept: dict[str, Error] = {}

    def keeps(self, call_id: str, output: Output) -> bool:
        """Return True if an output is hidden, or held back."""
        if not isinstance(output, Error) or output.name != "KeyboardInterrupt":
            return False
        self._kept[call_id] = output
        return True

    def released(self, finished: CodeFinished) -> list[Error]:
        """Return the held error, if the code raised it itself."""
        kept = self._kept.pop(finished.call_id, None)
        return [] if kept is None or finished.status == "interrupted" else [kept]
