"""The output of a run for a screen reader: its head, its tail, and a count of the lines between."""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from terp.events import error_text
from terp.events.outputs import Clear, Display, DisplayUpdate, Error, InputRequest, Omitted, Output, Text
from terp.text.plain import counted
from terp_cli.render.output.html import LONGEST, MOST_ROWS, Grid, blocks
from terp_cli.render.run_text import RunText
from terp_cli.render.spoken.prose import SpokenProse, table_lines
from terp_cli.terminal.sanitise import one_line, readable


def read_table(html: str) -> tuple[list[str], list[list[str]]] | None:
    """The header and the rows of the first table in `html`; "" is over a column without a name.

    None without a table, when its cells span others, or when it is very long.
    """
    if len(html) > LONGEST:
        return None
    grid = next((block for block in blocks(html) if isinstance(block, Grid)), None)
    if grid is None or not 0 < grid.header < len(grid.rows) < MOST_ROWS:
        return None
    if any(cell.spans for row in grid.rows for cell in row):
        return None
    texts = [[readable(cell.text) for cell in row] for row in grid.rows]
    # pandas puts the name of the index into a row of its own, below those of the columns.
    header = [" ".join(filter(None, column)) for column in zip(*texts[: grid.header], strict=True)]
    return header, texts[grid.header :]


_HEAD, _TAIL = 40, 12
_FAILING = re.compile(r"-+> *\d+ ?")
_TITLE = "Traceback (most recent call last)"


class SpokenOutput:
    """Converter of the outputs of a run, in order; `cut` is True if lines were omitted so far."""

    def __init__(self, cwd: str = "", *, whole: bool = False) -> None:
        self._cwd = cwd
        self._whole = whole
        self._text = RunText(cwd, whole=whole)
        self._head: list[str] = []
        self._tail: deque[str] = deque(maxlen=_TAIL)
        self._count = 0
        self._updates: dict[str, list[str]] = {}
        self.cut = False

    def add(self, output: Output) -> list[str]:
        """Return the lines that are due: of an error, a table or a picture, after all earlier ones."""
        match output:
            case Error():
                return [*self.taken(), *self._error(output)]
            case Display(data=data, path=path) if lines := self._described(data, path):
                return [*self.taken(), *lines]
            case DisplayUpdate(display_id=name, data=data, path=path):
                # Only the last update is written.
                plain = readable(RunText().add(output)).rstrip("\n").split("\n")
                self._updates[name] = self._described(data, path) or _labelled(plain)
            case Clear():
                self._text.rest()
                self._forget()
            case Text() | Omitted() | Display() | InputRequest():
                self._keep(self._text.add(output))
            case _:
                assert_never(output)
        return []

    def taken(self) -> list[str]:
        """Return the lines so far, under a label, and begin again."""
        self._keep(self._text.rest())
        left_out = self._count - len(self._head) - len(self._tail)
        self.cut = self.cut or left_out > 0
        between = [f"{counted(left_out, 'line')} left out."] if left_out else []
        said = _labelled([*self._head, *between, *self._tail], self._count)
        said += [line for lines in self._updates.values() for line in lines]
        self._forget()
        return said

    def _forget(self) -> None:
        self._head.clear()
        self._tail.clear()
        self._updates.clear()
        self._count = 0

    def _keep(self, text: str) -> None:
        for line in readable(text).split("\n")[:-1]:
            self._count += 1
            (self._head if len(self._head) < _HEAD else self._tail).append(line)

    def _described(self, data: Mapping[str, Any], path: str) -> list[str]:
        """Return the lines of a display that is more than text: a table, a document, a picture."""
        markdown = data.get("text/markdown")
        if isinstance(markdown, str):
            prose = SpokenProse()
            lines = [*prose.feed(markdown), *prose.finish()]
        else:
            lines = self._table(data.get("text/html"))
        kind = "Picture" if any(name.startswith("image/") for name in data) else "Page"
        return [*lines, f"{kind}: {one_line(path)}"] if path else lines

    @staticmethod
    def _table(html: Any) -> list[str]:
        table = read_table(html) if isinstance(html, str) else None
        return table_lines(*table) if table else []

    def _error(self, error: Error) -> list[str]:
        last = readable(f"{error.name}: {error.value}" if error.value else error.name)
        if self._whole:
            return [f"Error: {last}", *readable(self._text.add(error)).rstrip("\n").split("\n")]
        rows = readable(error_text.readable(error, self._cwd)).split("\n")
        return [f"Error: {last}", *_places(rows, last)]


def _places(lines: Sequence[str], last: str) -> list[str]:
    """Return the failed lines of a traceback with their places, without the code around them."""
    places: list[str] = []
    place, in_frame = "", False
    for line in lines:
        if line.endswith(_TITLE):
            continue
        if line.startswith(("Cell In[", "File ")):
            place, in_frame = line, True
        elif found := _FAILING.match(line):
            places.append(f"At {place}: {line[found.end() :].strip()}")
        elif line.startswith("  ["):
            places.append(line.strip(" []") + " left out.")
            in_frame = False
        elif (
            not (in_frame and re.match(r" *\d+( |$)", line)) and line.strip() and line not in last.split("\n")
        ):
            places.append(line)
    return places


def _labelled(lines: Sequence[str], count: int | None = None) -> list[str]:
    count = len(lines) if count is None else count
    if count == 1:
        return [f"Output: {lines[0]}"]
    return [f"Output, {counted(count, 'line')}:", *lines] if count else []
