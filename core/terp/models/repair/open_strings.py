"""Whether code stops inside a string that spans lines, in which a closing fence may be text."""

import re
from typing import Protocol, Self

from terp.text.languages import language_of

_PYTHON_TOKEN = re.compile(r"""\#.* | '{3} | "{3} | '(?:\\.|[^'\\])*+'? | "(?:\\.|[^"\\])*+"? """, re.VERBOSE)
_PYTHON_STRING_END = {mark: re.compile(rf"(?:\\.?|(?!{mark})[^\\])*+{mark}") for mark in ("'''", '"""')}
_HEREDOC = re.compile(r"""(?<!<)<<(?P<dash>-?)[ \t]*(?P<quote>['"\\]?)(?P<word>[A-Za-z_][\w.-]*)""")


class OpenString(Protocol):
    """Follows code line by line."""

    @property
    def is_open(self) -> bool:
        """Whether the lines so far end inside a string."""

    def add(self, line: str) -> None:
        """Follow one more line, given without its end."""

    def copy(self) -> Self:
        """Another one in the same state."""


class PythonString:
    """Python's triple-quoted strings."""

    def __init__(self, mark: str = "") -> None:
        self._mark = mark

    @property
    def is_open(self) -> bool:
        """Whether a triple quote has not been closed."""
        return bool(self._mark)

    def add(self, line: str) -> None:
        """Follow one more line."""
        at = 0
        while True:
            pattern = _PYTHON_STRING_END[self._mark] if self._mark else _PYTHON_TOKEN
            token = pattern.match(line, at) if self._mark else pattern.search(line, at)
            if token is None:
                return
            at = token.end()
            self._mark = "" if self._mark else token[0] if token[0] in _PYTHON_STRING_END else ""

    def copy(self) -> "PythonString":
        """Another one in the same state."""
        return PythonString(self._mark)


class ShellHeredoc:
    """The shell's here-documents, as in `cat > README.md <<'END'`."""

    def __init__(self, ends: tuple[tuple[str, bool], ...] = ()) -> None:
        self._ends = ends

    @property
    def is_open(self) -> bool:
        """Whether the line that ends a here-document is still to come."""
        return bool(self._ends)

    def add(self, line: str) -> None:
        """Follow one more line."""
        if not self._ends:
            self._ends = tuple((found["word"], bool(found["dash"])) for found in _HEREDOC.finditer(line))
            return
        word, indented = self._ends[0]
        if (line.lstrip("\t") if indented else line).rstrip("\r") == word:
            self._ends = self._ends[1:]

    def copy(self) -> "ShellHeredoc":
        """Another one in the same state."""
        return ShellHeredoc(self._ends)


class NoString:
    """A language whose strings are not followed: a closing fence always closes."""

    is_open = False

    def add(self, line: str) -> None:
        """Nothing."""

    def copy(self) -> "NoString":
        """Itself: it has no state."""
        return self


def open_string(language: str) -> OpenString:
    """What follows the strings of a language."""
    match language_of(language, ("python", "shell")):
        case "python":
            return PythonString()
        case "shell":
            return ShellHeredoc()
        case _:
            return NoString()
