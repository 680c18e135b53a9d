"""Code as it is being written: each finished line is coloured once and appended."""

from collections.abc import Callable

from rich.text import Text

from terp_cli.render.fold import fold
from terp_cli.render.highlight import Highlighter
from terp_cli.render.pieces import Pieces
from terp_cli.terminal.sanitise import visible


class CodeStream:
    """Rows of one piece of code; `indent` cells are left free before each."""

    def __init__(self, language: str, width: Callable[[], int], indent: int = 0) -> None:
        self._highlighter = Highlighter(language)
        self._width = width
        self._indent = " " * indent
        self._line = Pieces()

    def feed(self, text: str) -> list[Text]:
        """The rows of the lines that `text` finished.

        Long ones are left to the terminal to wrap: whoever copies one gets the line as it was written.
        """
        rows: list[Text] = []
        *finished, rest = text.split("\n")
        for end in finished:
            self._line.add(end)
            rows.append(self._row(self._highlighter.line(self._line.take())))
        self._line.add(rest)
        return rows

    def finish(self) -> list[Text]:
        """The row of a last line without an end."""
        return self.feed("\n") if len(self._line) else []

    def tail(self, limit: int) -> list[Text]:
        """The line being written, its last `limit` rows."""
        line = self._line.end(self._width() * limit)
        return self.preview(line, limit, whole=len(line) == len(self._line)) if line else []

    def preview(self, line: str, limit: int, *, whole: bool = True) -> list[Text]:
        """The last `limit` rows of a line that follows; coloured when it is the `whole` line so far."""
        text = self._highlighter.peek(line) if whole else Text(visible(line))
        return fold(self._row(text), self._width())[-limit:]

    def _row(self, text: Text) -> Text:
        return Text(self._indent) + text if self._indent else text
