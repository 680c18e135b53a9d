"""The one grammar of fenced code in Markdown, and of quoting foreign text in it.

A fence is a line of three or more backticks or tildes (CommonMark, "Fenced code blocks"). The text behind an
opening fence is its info string, whose first word names the language. A bare fence of the same character
closes the block if it is at least as long. Indentation is returned, and not limited: models indent fences.
"""

import re

from terp.text.dataclasses import dataclass

_OPENING = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")
_BARE = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})[ \t\r]*")
_CLOSING_LINE = re.compile(r"^ {0,3}(`{3,})[ \t]*$", re.MULTILINE)
_LANGUAGE = re.compile(r"\s*\{?\s*\.?([\w+#.-]+)")
# In a stream text that may become one block is held back, so the blanks before it are limited.
_ONE_BLOCK = re.compile(r"\s{0,32}(?P<marks>`{3,}|~{3,})(?P<info>[^\n`]*)\n")
LONGEST_FENCE_LINE = 1000

MAY_BECOME_OPENING = re.compile(r"[ \t]*(?:`{0,2}|`{3,}[^`\n]*|~{0,2}|~{3,}[^\n]*)")
"""Matches the beginning of a line that may become an opening fence."""
MAY_BECOME_CLOSING = re.compile(r"[ \t]*(?:`*|~*)[ \t\r]*")
"""Matches the beginning of a line that may become a closing fence."""
MAY_BEGIN_BLOCK = re.compile(r"\s{0,32}(?:`{0,2}|~{0,2})")
"""Matches the beginning of a text that may become one fenced block."""
BEGINS_BLOCK = re.compile(r"\s{0,32}(?:```|~~~)")
"""Matches where a text begins with a fence."""


@dataclass(frozen=True, slots=True)
class Fence:
    """An opening fence: its indentation, its backticks or tildes, and its info string."""

    indent: str
    marks: str
    info: str = ""

    @property
    def columns(self) -> int:
        """The width of the indentation, with tabs of four columns."""
        return len(self.indent.expandtabs(4))

    @property
    def language(self) -> str:
        """The language that the info string names, as written; "" for none."""
        word = _LANGUAGE.match(self.info)
        return word[1] if word else ""

    def is_closed_by(self, line: str) -> bool:
        """Return True if a line, given without its end, closes the block."""
        bare = _BARE.fullmatch(line) if len(line) <= LONGEST_FENCE_LINE else None
        if bare is None or not bare["marks"].startswith(self.marks):
            return False
        return len(bare["indent"].expandtabs(4)) <= self.columns + 3


def opening_fence(line: str) -> Fence | None:
    """Return the fence that a line, given without its end, opens; None for any other line."""
    found = _OPENING.fullmatch(line) if len(line) <= LONGEST_FENCE_LINE else None
    return Fence(found["indent"], found["marks"], found["info"]) if found else None


def one_block(text: str) -> tuple[str, str] | None:
    """Return the label, in lower case, and the content if all of `text` is one fenced block."""
    opening = _ONE_BLOCK.match(text)
    if opening is None:
        return None
    marks = opening["marks"]
    *lines, closing = text[opening.end() :].rstrip().split("\n")
    if closing.strip() != marks or any(line.lstrip().startswith(marks) for line in lines):
        return None
    return "".join(opening["info"].split()[:1]).casefold(), "\n".join(lines)


def unfenced(text: str) -> str:
    """Return the content of a text that is one fenced block; any other text as it is."""
    block = one_block(text)
    return text if block is None else block[1]


def marks_around(text: str) -> str:
    """Return a fence longer than any run of backticks in the text."""
    return "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))


def marks_around_lines(text: str) -> str:
    """Return a fence that no line of the text closes: for text in pieces, whose fence is open already."""
    return "`" * (1 + max(map(len, _CLOSING_LINE.findall(text)), default=2))


def fenced(text: str, language: str = "") -> str:
    """Return `text` in a fence longer than any run of backticks in it."""
    marks = marks_around(text)
    word = re.sub(r"[^\w+#.-]", "", language)
    end = "" if text.endswith("\n") else "\n"
    return f"{marks}{word}\n{text}{end}{marks}"


def quoted(text: str) -> str:
    """Return `text` as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip("\n").split("\n"))
