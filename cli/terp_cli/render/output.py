"""What one run puts out: text with its progress bars and floods, results, pictures and errors."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

from rich.text import Text as Styled

from terp import tracebacks
from terp.changes import grouped
from terp.outputs import Clear, Display, DisplayUpdate, Error, InputRequest, Omitted, Output, Text
from terp_cli.program_text import Line, ProgramText
from terp_cli.render import look
from terp_cli.render.ansi import text_of
from terp_cli.render.markdown import MarkdownStream
from terp_cli.sanitise import one_line

_HEAD, _TAIL = 40, 12
"""Lines of a flood that are shown from its start while it runs, and from its end when it is over."""
_LONGEST_TRACEBACK = 60
_MOST_RESULTS = 200
"""Results of one run that are shown; pictures and pages always are."""


class OutputStream:
    """Rows of the output of one run. A flood shows its head, then a count, and at its end its tail.

    Of a traceback the frames of the cell and of files below `cwd` are shown and those of libraries
    counted, or all of them with `whole`. `cut` tells whether anything was left out so far.
    """

    def __init__(self, width: Callable[[], int], cwd: str = "", *, whole: bool = False) -> None:
        self._width = width
        self._cwd = cwd
        self._whole = whole
        self._text = ProgramText()
        self._shown = 0
        self._held: deque[Line] = deque(maxlen=_TAIL)
        self._left_out = 0
        self._left_out_chars = 0
        self._live = False
        self._void = False
        self._updates: dict[str, list[Styled]] = {}
        self._results = 0
        self.cut = False

    def add(self, output: Output) -> list[Styled]:
        """The rows that `output` finished."""
        if self._void and not isinstance(output, Clear):
            self._forget()
        rows: list[Styled] = []
        match output:
            case Text(text=text):
                rows = self._lines(self._text.feed(text))
            case Clear(wait=wait):
                self._clear(wait=wait)
            case Omitted():
                rows = self._leave_out(output)
            case Display():
                rows = self._result(output)
            case DisplayUpdate(display_id=name):
                self._updates[name] = self._display(output.data, output.path)
            case Error():
                rows = self.settle() + self._error(output)
            case InputRequest():
                rows = self.settle()
            case _:
                assert_never(output)
        return rows

    def settle(self) -> list[Styled]:
        """The rows of all that waits: something else comes next, or the run is over."""
        rows = self._lines(self._text.finish())
        self.cut = self.cut or self._left_out > 0 or self._left_out_chars > 0
        rows += self._held_rows(_TAIL)
        self._shown, self._left_out, self._left_out_chars, self._live = 0, 0, 0, False
        self._held.clear()
        return rows

    def finish(self) -> list[Styled]:
        """The rows that are left when the run is over."""
        rows = self.settle()
        rows += _folded([row for update in self._updates.values() for row in update])
        if self._results > _MOST_RESULTS:
            rows.append(Styled(f"… {grouped(self._results - _MOST_RESULTS)} more results …", look.DIM))
        self._updates, self._results = {}, 0
        return rows

    def tail(self, limit: int) -> list[Styled]:
        """The last rows of what may still change."""
        rows = self._held_rows(max(1, limit - 2))
        rows += [row for update in self._updates.values() for row in update]
        if line := self._text.line:
            rows.append(text_of(line))
        return rows[-limit:]

    def _lines(self, lines: Sequence[Line]) -> list[Styled]:
        room = 0 if self._live else max(0, _HEAD - self._shown)
        now, later = lines[:room], lines[room:]
        self._shown += len(now)
        self._left_out += max(0, len(self._held) + len(later) - _TAIL)
        self._held.extend(later)
        return [text_of(line) for line in now]

    def _leave_out(self, omitted: Omitted) -> list[Styled]:
        rows = self._lines(self._text.finish())
        self._shown = max(self._shown, _HEAD)
        self._left_out += len(self._held) + omitted.lines
        self._left_out_chars += omitted.characters
        self._held.clear()
        return rows

    def _held_rows(self, most: int) -> list[Styled]:
        held = list(self._held)
        left_out = self._left_out + max(0, len(held) - most)
        count = ""
        if left_out:
            count = f"… {grouped(left_out)} lines …"
        elif self._left_out_chars:
            count = f"… {grouped(self._left_out_chars)} characters …"
        return ([Styled(count, look.DIM)] if count else []) + [text_of(line) for line in held[-most:]]

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

    def _result(self, display: Display) -> list[Styled]:
        if not display.path:
            self._results += 1
            if self._results > _MOST_RESULTS:
                return []
        return self.settle() + self._display(display.data, display.path)

    def _display(self, data: Mapping[str, Any], path: str) -> list[Styled]:
        rows: list[Styled] = []
        picture = next((kind for kind in data if kind.startswith("image/")), "")
        if isinstance(markdown := data.get("text/markdown"), str):
            stream = MarkdownStream(self._width, lambda: 12)
            rows = stream.feed(markdown) + stream.finish()
        elif not (picture and path) and isinstance(plain := data.get("text/plain"), str):
            rows = _folded(_drawn(plain))
        if path:
            kind = picture.removeprefix("image/").partition("+")[0] or "html"
            rows.append(Styled.assemble((f"{one_line(kind)} ", look.DIM), one_line(path)))
        return rows

    def _error(self, error: Error) -> list[Styled]:
        if self._whole:
            return _drawn("\n".join(error.traceback) or f"{error.name}: {error.value}")
        told = tracebacks.readable(error, self._cwd)
        rows = _drawn(told)
        for row in rows:
            if row.plain.startswith("--"):
                row.stylize(look.BAD)
            elif row.plain.startswith("  ["):
                row.stylize(look.DIM)
        for last in rows[-1:]:
            last.stylize(look.BAD)
        self.cut = self.cut or "library frame" in told or len(rows) > _LONGEST_TRACEBACK
        return _folded(rows, _LONGEST_TRACEBACK)


def _drawn(written: str) -> list[Styled]:
    text = ProgramText()
    return [text_of(line) for line in (*text.feed(written), *text.finish())]


def _folded(rows: list[Styled], most: int = _HEAD + _TAIL) -> list[Styled]:
    """At most so many rows: the first third and the rest from the end, with a count between."""
    if len(rows) <= most:
        return rows
    head = most // 3
    left_out = Styled(f"… {grouped(len(rows) - most)} lines …", look.DIM)
    return [*rows[:head], left_out, *rows[head - most :]]
