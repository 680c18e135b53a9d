"""Code as it is being written: each finished line is coloured once and appended; long code is folded."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from rich.text import Text

from terp.text.plain import counted
from terp_cli.render import look
from terp_cli.render.fold import fold
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
        """Return the rows of the lines that `text` finished.

        The terminal wraps long lines: a copy of one is then the line as it was written.
        """
        return [self._row(self._highlighter.line(line)) for line in self._line.ended(text)]

    def finish(self) -> list[Text]:
        """Return the row of a last line without an end."""
        return self.feed("\n") if len(self._line) else []

    def tail(self, limit: int) -> list[Text]:
        """Return the last `limit` rows of the line being written."""
        line = self._line.end(self._width() * limit)
        return self.preview(line, limit, whole=len(line) == len(self._line)) if line else []

    def preview(self, line: str, limit: int, *, whole: bool = True) -> list[Text]:
        """Return the last `limit` rows of the next line; coloured if it is the `whole` line so far."""
        return fold(self._row(self._highlighter.peek(line, whole=whole)), self._width())[-limit:]

    def _row(self, text: Text) -> Text:
        return Text(self._indent) + text if self._indent else text


# A note on so few hidden rows would take almost as much room as the rows.
_WORTH_FOLDING = 3
_EDIT = "edit_file("


class CallCode:
    """Rows of the code of one call; at most `most` are shown, 0 shows all.

    Code that edits files leaves half of them to the diff.
    """

    def __init__(self, language: str, width: Callable[[], int], most: int = 0) -> None:
        self._highlighter = Highlighter(language)
        self._width = width
        self._most = most
        self._line = Pieces()
        self._number = 1
        self._shown = 0
        # Complete lines that do not fit, until it is known if they are folded.
        self._held: list[list[Text]] = []
        self._left = 0
        self._cut = 0
        self._counted = False
        self._half = most // 2 or most

    @property
    def rows(self) -> int:
        """The number of finished rows, with the count of hidden ones."""
        return self._shown + self._counted

    @property
    def folded(self) -> bool:
        """True if some of the code is not shown."""
        return self._left > 0

    def feed(self, text: str) -> list[Text]:
        """Return the rows of the lines that `text` finished."""
        return [row for line in self._line.ended(text) for row in self._end_line(line)]

    def finish(self) -> list[Text]:
        """Return the rows of held lines, and a count of the hidden ones."""
        rows = self._end_line(self._line.take()) if len(self._line) else []
        held = [row for line in self._held for row in line]
        self._held, self._shown = [], self._shown + len(held)
        rows += held
        if self.folded and not self._counted:
            rows.append(Text(f"{self._not_shown()} not shown", look.DIM))
            self._counted = True
        return rows

    def tail(self, limit: int) -> list[Text]:
        """Return the last `limit` rows that may still change: held lines, and the line being written."""
        if self.folded:
            more = self._left + (len(self._line) > 0)
            return [Text(f"… {counted(more, 'more line')}", look.DIM)]
        rows = [row for line in self._held for row in line]
        if line := self._line.end(self._room * limit):
            whole = len(line) == len(self._line)
            rows += self._numbered(self._highlighter.peek(line, whole=whole), starts=whole)
        return rows[-limit:]

    def _end_line(self, line: str) -> list[Text]:
        if self.folded:
            self._left += 1
            self._number += 1
            return []
        rows = self._numbered(self._highlighter.line(line))
        self._number += 1
        if _EDIT in line:
            self._most = self._half
        if not self._most or (not self._held and self._shown + len(rows) <= self._most):
            self._shown += len(rows)
            return rows
        self._held.append(rows)
        few = min(_WORTH_FOLDING, self._most // 3)
        return self._fold() if sum(map(len, self._held)) > few + self._free else []

    def _fold(self) -> list[Text]:
        """Return the held lines that still fit; count all further lines."""
        free, shown = self._free, [row for line in self._held for row in line][: self._free]
        first = self._number - len(self._held)
        for at, line in enumerate(self._held):
            if free < len(line):
                self._left = len(self._held) - at
                self._cut = first + at if free else 0
                break
            free -= len(line)
        self._held, self._shown = [], self._shown + len(shown)
        return shown

    @property
    def _free(self) -> int:
        return max(0, self._most - self._shown)

    def _not_shown(self) -> str:
        if not self._cut:
            return f"… {counted(self._left, 'line')}"
        others = self._left - 1
        rest = f"… the rest of line {self._cut}"
        return f"{rest} and {counted(others, 'more line')}" if others else rest

    @property
    def _room(self) -> int:
        return max(8, self._width() - len(_gutter(self._number)))

    def _numbered(self, text: Text, *, starts: bool = True) -> list[Text]:
        """Return a line as rows; its number is before the first."""
        gutter = _gutter(self._number)
        again = " " * (len(gutter) - 2) + gutter[-2:]
        return [
            Text.assemble((gutter if starts and at == 0 else again, look.DIM), row)
            for at, row in enumerate(fold(text, self._room))
        ]


def _gutter(number: int) -> str:
    # The last number is unknown while the first is written: few calls have more than 999 lines.
    return f"{number:>3} │ "


# Past this a line is data rather than code, and lexing it would only be slow.
_LONGEST_LINE = 5_000


class Highlighter:
    """Highlighter of the lines of one piece of code, in order."""

    def __init__(self, language: str) -> None:
        self._lexer = _lexer(language)
        self._stack: list[str] = ["root"]

    def line(self, code: str) -> Text:
        """Return the next line, coloured; `code` is without its line end."""
        safe = visible(code)
        if self._lexer is None or len(safe) > _LONGEST_LINE:
            return _expanded(Text(safe))
        text = Text()
        for token, piece in self._tokens(safe + "\n", self._stack):
            text.append(piece.rstrip("\n"), look.of_token(token))
        return _expanded(text)

    def peek(self, code: str, *, whole: bool = True) -> Text:
        """Return the same as `line`, for a line that is being written; without colours if not `whole`."""
        if not whole:
            return Text(visible(code))
        stack = list(self._stack)
        try:
            return self.line(code)
        finally:
            self._stack = stack

    def _tokens(self, line: str, stack: list[str]) -> Iterator[tuple[Any, str]]:
        if hasattr(self._lexer, "_tokens") and not _wants_context(self._lexer):
            return _step_through(self._lexer, line, stack)
        return ((token, piece) for _, token, piece in self._lexer.get_tokens_unprocessed(line))


def _expanded(text: Text) -> Text:
    if "\t" in text.plain:
        text.expand_tabs(4)
    return text


def _wants_context(lexer: Any) -> bool:
    from pygments.lexer import ExtendedRegexLexer  # type: ignore[import-untyped]  # noqa: PLC0415  (see _lexer)

    return isinstance(lexer, ExtendedRegexLexer)


@lru_cache(maxsize=32)
def _lexer(language: str) -> Any:
    # Pygments is imported with the first code: an answer in words does without it.
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]  # noqa: PLC0415

    if not language:
        return None
    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


def _step_through(lexer: Any, line: str, stack: list[str]) -> Iterator[tuple[Any, str]]:
    """Yield tokens as `RegexLexer.get_tokens_unprocessed` does, with a stack that outlives the line.

    Pygments offers that only to lexers written for it (`ExtendedRegexLexer`), which Python's is not.
    """
    from pygments.token import Error, Whitespace, _TokenType  # type: ignore[import-untyped]  # noqa: PLC0415

    at = 0
    while at < len(line):
        for match, action, new_state in lexer._tokens[stack[-1]]:
            found = match(line, at)
            if not found:
                continue
            if type(action) is _TokenType:
                yield action, found.group()
            elif action is not None:
                yield from ((token, piece) for _, token, piece in action(lexer, found))
            at = found.end()
            _change(stack, new_state)
            break
        else:
            if line[at] == "\n":
                stack[:] = ["root"]
            yield (Whitespace if line[at] == "\n" else Error), line[at]
            at += 1


def _change(stack: list[str], new_state: Any) -> None:
    if new_state is None:
        return
    if isinstance(new_state, int):
        # A negative number of states to pop; the first one always stays.
        del stack[max(1, len(stack) + new_state) :]
        return
    for state in new_state if isinstance(new_state, tuple) else (new_state,):
        if state == "#pop":
            del stack[max(1, len(stack) - 1) :]
        elif state == "#push":
            stack.append(stack[-1])
        else:
            stack.append(state)
