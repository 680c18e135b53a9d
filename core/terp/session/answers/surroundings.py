"""Where in Markdown a text has come to: whether what follows is prose or code."""

import re

_FENCE = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(`{3,}(?!.*`)|~{3,})(.*)")
_RUN = re.compile(r"(\\*)(`+)")
# What makes braces something else: a template's own mark, a formula, the address of a link, a backslash.
_NOT_AFTER = re.compile(r"(?:[\\${}^]|[^\s*_(]_|\]\([^()\s]*|\\[A-Za-z]{1,30})\Z")


class Surroundings:
    """Follows a text, however it is cut."""

    def __init__(self) -> None:
        self._fence = ""
        # The paragraph so far, in which code may have been begun, with its last line.
        self._paragraph = ""
        self._line = ""

    def follow(self, text: str) -> None:
        """Go on with more of the text."""
        *ended, rest = text.split("\n")
        for piece in ended:
            self._end(self._line + piece)
            self._line = ""
        self._line += rest

    @property
    def take_values(self) -> bool:
        """Whether a reference can begin here: not in code, and not after what makes braces another thing."""
        if self._fence or _FENCE.match(self._line) or _NOT_AFTER.search(self._line[-40:]):
            return False
        return not _in_code(self._paragraph + self._line)

    def _end(self, line: str) -> None:
        line = line.rstrip("\r")
        fence = _FENCE.match(line)
        if self._fence:
            closes = fence and fence[1].startswith(self._fence) and not fence[2].strip()
            self._fence = "" if closes else self._fence
        elif fence:
            self._fence, self._paragraph = fence[1], ""
        else:
            self._paragraph = self._paragraph + line + "\n" if line.strip(" \t>") else ""


def _in_code(text: str) -> bool:
    """Whether a code span was begun that has not ended, or may still be one."""
    opened = ""
    for backslashes, run in _RUN.findall(text):
        if not opened:
            # A backslash takes the first backtick's meaning away.
            opened = run[len(backslashes) % 2 :]
        elif run == opened:
            opened = ""
    return bool(opened)
