"""Changes of text files: as rows, numbered, highlighted, added lines green and removed ones red; in words."""

import re
from collections.abc import Iterator

from rich.text import Text

from terp_cli.render import look
from terp_cli.render.code import Highlighter
from terp_cli.render.fold import fold
from terp_cli.terminal.sanitise import one_line

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_SIGNS = {"+": ("+", look.GOOD), "-": ("−", look.BAD), " ": (" ", look.DIM)}
_DONE = {"+": " added", "-": " removed"}
_HUNK_BEGINS = "@"


def diff_rows(path: str, counts: str, diff: str, width: int) -> list[Text]:
    """Return the hunks of a unified diff below the file's name and the `counts` of its lines: "+2 −1"."""
    added, _, removed = counts.partition(" ")
    name = (f"── {one_line(path)} ", look.RULE)
    return [Text.assemble(name, (added, look.GOOD), (f" {removed}", look.BAD)), *_body(path, diff, width)]


def spoken_diff(path: str, counts: str, diff: str) -> Iterator[str]:
    """Yield the hunks of a unified diff as lines in words, without unchanged blank lines."""
    yield f"Change of {one_line(path)}, {counts}:"
    for number, sign, text in _numbered(diff):
        if sign in _DONE or text.strip():
            yield f"Line {number}{_DONE.get(sign, '')}: {one_line(text)}"


def _body(path: str, diff: str, width: int) -> Iterator[Text]:
    language = _language(path)
    old, new = Highlighter(language), Highlighter(language)
    for row, (number, sign, text) in enumerate(_numbered(diff)):
        if sign == _HUNK_BEGINS:
            old, new = Highlighter(language), Highlighter(language)
            if row:
                yield Text("    ⋮", look.DIM)
            continue
        code = old.line(text) if sign == "-" else new.line(text)
        if sign == " ":
            old.line(text)
        mark, style = _SIGNS[sign]
        gutter = f"{number:>3} {mark} "
        for part_row, part in enumerate(fold(code, max(8, width - len(gutter)))):
            yield Text.assemble((gutter if part_row == 0 else f"{mark:>5} ", style), part)


def _numbered(diff: str) -> Iterator[tuple[int, str, str]]:
    """Yield the number, the sign and the text of each line of a unified diff; a hunk begins with "@"."""
    at_old = at_new = 0
    for line in diff.split("\n"):
        if hunk := _HUNK.match(line):
            at_old, at_new = int(hunk[1]), int(hunk[2])
            yield 0, _HUNK_BEGINS, ""
            continue
        sign = line[:1] if line.startswith(("+", "-")) else " "
        yield (at_old if sign == "-" else at_new), sign, line[1:]
        at_old, at_new = at_old + (sign != "+"), at_new + (sign != "-")


def _language(path: str) -> str:
    from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        return str(get_lexer_for_filename(path).aliases[0])
    except (ClassNotFound, IndexError):
        return ""
