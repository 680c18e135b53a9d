"""Highlighting of code, line by line, with the state of strings and comments over several lines."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from rich.text import Text

from terp_cli.render import look
from terp_cli.terminal.sanitise import visible

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

    def peek(self, code: str) -> Text:
        """Return the same as `line`, for a line that is still being written."""
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
