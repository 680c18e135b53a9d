"""Plain text while it streams, line by line, in one style."""

from collections.abc import Callable

from rich.style import Style
from rich.text import Text

from terp_cli.render.fold import wrapped
from terp_cli.render.pieces import Pieces
from terp_cli.terminal.sanitise import readable


class PlainStream:
    """Rows of text that is shown as it is written: the model's reasoning."""

    def __init__(self, width: Callable[[], int], style: Style) -> None:
        self._width = width
        self._style = style
        self._line = Pieces()

    def feed(self, text: str) -> list[Text]:
        """The rows of the lines that `text` finished."""
        rows: list[Text] = []
        *finished, rest = text.split("\n")
        for end in finished:
            self._line.add(end)
            rows += self._rows(self._line.take())
        self._line.add(rest)
        return rows

    def finish(self) -> list[Text]:
        """The rows of a last line without an end."""
        return self._rows(self._line.take()) if len(self._line) else []

    def tail(self, limit: int) -> list[Text]:
        """The last `limit` rows of the line being written."""
        line = self._line.end(self._width() * limit)
        return self._rows(line)[-limit:] if line else []

    def _rows(self, line: str) -> list[Text]:
        return wrapped(Text(readable(line.removesuffix("\r")), self._style), self._width())
