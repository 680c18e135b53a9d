"""Markdown while it streams: finished rows are returned once, the others are the tail.

A line inside a fence is coloured and finished at its end. Everything else is parsed from the start of
the last unfinished block, and all blocks but the last are finished. All decisions fall at the ends of
lines (and every so many characters of a very long one), never at the ends of chunks: the rows do not
depend on how the text was cut.
"""

import re
from collections.abc import Callable

from rich.text import Text

from terp.text.fences import Fence, opening_fence
from terp_cli.render.code import CodeStream
from terp_cli.render.markdown import blocks
from terp_cli.render.markdown.prose import ProseBlocks, dedented
from terp_cli.render.pieces import Pieces

_QUOTE = re.compile(r" {0,3}> ?")
# As deep as quotes are taken apart as they stream; the parser knows twenty levels.
_DEEPEST_QUOTE = 8
# A line this long is looked at before it ends, whenever it has grown by as much again.
_LONG_LINE = 128


class MarkdownStream:
    """Renderer of a reply's text as it comes. `tail_rows` limits the unfinished rows.

    Quoted text is rendered by another stream, `depth` levels deep. With `ascii_only` formulas
    are written in ASCII.
    """

    def __init__(
        self,
        width: Callable[[], int],
        tail_rows: Callable[[], int],
        *,
        depth: int = 0,
        ascii_only: bool = False,
    ) -> None:
        self._width = width
        self._tail_rows = tail_rows
        self._depth = depth
        self._ascii_only = ascii_only
        self._quote: MarkdownStream | None = None
        self._prose = ProseBlocks(width, tail_rows, ascii_only=ascii_only)
        self._line = Pieces()
        self._code: CodeStream | None = None
        self._fence = Fence("", "```")
        self._held_return = False

    def feed(self, text: str) -> list[Text]:
        """Return the rows that `text` finished."""
        if self._held_return:
            text = "\r" + text
        self._held_return = text.endswith("\r")
        text = text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
        rows: list[Text] = []
        *ended, rest = text.split("\n")
        for piece in ended:
            rows += self._grow(piece)
            rows += self._end_line()
        return rows + self._grow(rest)

    def finish(self) -> list[Text]:
        """Return the remaining rows; after this a new text may begin."""
        self._held_return = False
        rows = self._end_line() if len(self._line) else []
        self._code = None
        return rows + self._leave_quote() + self._prose.finish()

    def tail(self, limit: int) -> list[Text]:
        """Return the last `limit` unfinished rows."""
        return self._tail_with(self._line.end(self._width() * limit * 4), limit)

    def _tail_with(self, line: str, limit: int) -> list[Text]:
        if self._code is not None:
            return self._code_tail(self._code, limit)
        if self._quote is None:
            return self._prose.tail(line, limit)
        marker = _QUOTE.match(line)
        return blocks.quoted(self._quote._tail_with(line[marker.end() :] if marker else "", limit))

    def _grow(self, piece: str) -> list[Text]:
        if self._code is not None or self._quote is not None:
            self._line.add(piece)
            return []
        rows: list[Text] = []
        while len(piece) >= (room := _LONG_LINE - len(self._line) % _LONG_LINE):
            self._line.add(piece[:room])
            piece = piece[room:]
            rows += self._shorten()
        self._line.add(piece)
        return rows

    def _shorten(self) -> list[Text]:
        rows, rest = self._prose.shorten(str(self._line))
        if rows:
            self._line.take()
            self._line.add(rest)
        return rows

    def _end_line(self) -> list[Text]:
        line = self._line.take()
        if self._code is not None:
            return self._code_line(self._code, line)
        if (marker := _QUOTE.match(line)) and self._begins_quote(line):
            return self._quoted_line(line[marker.end() :])
        if self._quote is not None and self._quote._goes_on_with(line):
            return self._quoted_line(line)
        rows = self._leave_quote()
        opening = opening_fence(line)
        if opening and (opening.columns <= 3 or self._prose.in_list):
            return rows + self._open(opening)
        return rows + self._prose.line(line)

    def _begins_quote(self, line: str) -> bool:
        if self._quote is not None:
            return True
        in_item = self._prose.in_list and line.startswith(" ")
        return self._depth < _DEEPEST_QUOTE and not in_item and not self._prose.in_formula

    def _quoted_line(self, line: str) -> list[Text]:
        rows: list[Text] = []
        if self._quote is None:
            rows = self._prose.interrupt(0)
            self._quote = MarkdownStream(
                lambda: max(10, self._width() - 2),
                self._tail_rows,
                depth=self._depth + 1,
                ascii_only=self._ascii_only,
            )
        return rows + blocks.quoted(self._quote.feed(line + "\n"))

    def _goes_on_with(self, line: str) -> bool:
        """Return True if a line without its mark continues the quoted paragraph."""
        if self._quote is not None:
            return self._quote._goes_on_with(line)
        return self._code is None and self._prose.goes_on_with(line)

    def _leave_quote(self) -> list[Text]:
        quote, self._quote = self._quote, None
        return blocks.quoted(quote.finish()) if quote is not None else []

    def _open(self, opening: Fence) -> list[Text]:
        self._fence = opening
        rows = self._prose.interrupt(opening.columns)
        self._code = CodeStream(opening.language, self._width, self._prose.indent)
        return rows

    def _code_line(self, code: CodeStream, line: str) -> list[Text]:
        if self._fence.is_closed_by(line):
            self._code = None
            return []
        return code.feed(dedented(line, self._fence.columns) + "\n")

    def _code_tail(self, code: CodeStream, limit: int) -> list[Text]:
        line = self._line.end(self._width() * limit)
        # What may still become the end of the fence is not shown as code.
        if not line.strip(" " + self._fence.marks[0]):
            return []
        whole = len(line) == len(self._line)
        return code.preview(dedented(line, self._fence.columns) if whole else line, limit, whole=whole)
