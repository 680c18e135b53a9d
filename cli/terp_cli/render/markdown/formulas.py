r"""The places of formulas in a text: `$…$`, `$$…$$`, `\(…\)`, `\[…\]` and `\begin{…}…\end{…}`.

A dollar sign is more often a price or a variable of the shell, and `\(` an escaped bracket: only text that
looks like a formula counts. All patterns here take linear time.
"""

import re

from terp.text.dataclasses import dataclass

_DOLLAR = re.compile(r"\$(?=[^\s$'\",.;:!?)`])((?:\\[^\n]|[^\\$`]){1,400})(?<=\S)\$(?![\w$({])")
_INLINE = (
    re.compile(r"\$\$((?:\\[^\n]|[^\\$`]){1,2000})\$\$"),
    _DOLLAR,
    re.compile(r"\\\(((?:[^\\`]|\\[^)(\n]){1,1000})\\\)"),
    re.compile(r"\\\[((?:[^\\`]|\\[^\]\[]){1,2000})\\\](?!\()"),
)
_OPENINGS = re.compile(r"\$\$|\\\(|\\\[|\$(?=[^\s$'\",.;:!?)])")
_BLOCK = re.compile(
    r"(\$\$|\\\[|\\begin\{(equation|align|gather|multline|eqnarray|alignat|displaymath|math)\*?\})"
)
_SIGNS = re.compile(r"[+<>/|*]|\d\s*-|-\s*\d")
_WORD = re.compile(r"[A-Za-z]{3,}")
_WORDS = re.compile(r"[A-Za-z]{3,}.*\s|\s.*[A-Za-z]{3,}", re.DOTALL)
_PRICE = re.compile(r"\d[\d.,]*[kKMB]?(?:\s|\Z|[-–/])")
_TEXT = re.compile(r"\\(?:text|mbox|operatorname)[a-z]*\*?\{[^{}]*\}")
_SENTENCE = re.compile(r"(?:(?<![\\A-Za-z])[A-Za-z]{3,}[.,;:]?\s+){3}")
_ENDING = re.compile(r"\s*[.,;:]?\s*")


@dataclass(frozen=True, slots=True)
class Formula:
    """The source of a formula between its marks, and the end of its last mark."""

    source: str
    end: int


@dataclass(frozen=True, slots=True)
class FormulaOpening:
    """The opening mark of a display formula, and the mark that closes it."""

    mark: str
    closing: str
    keeps_marks: bool


def inline_formula(text: str, at: int, end: int) -> Formula | None:
    """Return the formula that begins at `at`, if it ends before `end`; else None."""
    if at and (text[at - 1].isalnum() or text[at - 1] in "$_"):
        return None
    for pattern in _INLINE:
        if found := pattern.match(text, at, end):
            return Formula(found[1], found.end()) if _is_formula(found[1], found.group()) else None
    return None


def may_be_open(text: str) -> bool:
    """Return True if `text` may contain an open formula."""
    if "$" not in text and "\\" not in text:
        return False
    for pattern in _INLINE:
        text = pattern.sub("", text)
    return _OPENINGS.search(text[-2_000:]) is not None


def block_opening(line: str) -> FormulaOpening | None:
    """Return the opening mark of a display formula in a line, else None."""
    found = _BLOCK.match(line)
    if found is None:
        return None
    mark = found[1]
    if mark.startswith("\\begin"):
        return FormulaOpening(mark, "\\end" + mark.removeprefix("\\begin"), keeps_marks=True)
    return FormulaOpening(mark, {"$$": "$$", "\\[": "\\]"}[mark], keeps_marks=False)


def closes(line: str, closing: str) -> int | None:
    """Return the position of the closing mark in `line`, None without one."""
    at = line.find(closing)
    ended = at >= 0 and _ENDING.fullmatch(line, at + len(closing))
    return at if ended else None


def is_prose(source: str) -> bool:
    """Return True if the text between two marks is sentences, and no formula."""
    return _SENTENCE.search(_TEXT.sub("", source)) is not None


def _is_formula(source: str, whole: str) -> bool:
    if not source.strip():
        return False
    if is_prose(source):
        return False
    if any(mark in source for mark in "\\^_={}"):
        return True
    if whole.startswith("$") and not whole.startswith("$$"):
        return not ('"' in source or _PRICE.match(source) or _WORDS.search(source)) or source.isdigit()
    return _SIGNS.search(source) is not None or not _WORD.search(source)
