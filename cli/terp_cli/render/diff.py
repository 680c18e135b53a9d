"""Changes of text files as rows: numbered, highlighted, added lines green and removed ones red."""

import re
from collections.abc import Iterator

from rich.style import Style
from rich.text import Text

from terp_cli.render import look
from terp_cli.render.code import Highlighter
from terp_cli.render.fold import fold
from terp_cli.terminal.sanitise import one_line

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_SIGNS = {"+": ("+", look.GOOD), "-": ("−", look.BAD), " ": (" ", look.DIM)}


def diff_rows(path: str, lines: str, diff: str, width: int) -> list[Text]:
    """Return the hunks of a unified diff below the file's name.

    `lines` are the numbers of added and removed lines in words.
    """
    return [
        Text.assemble((f"── {one_line(path)} ", look.RULE), *_counts(lines)),
        *_body(path, diff, width),
    ]


def _counts(lines: str) -> Iterator[tuple[str, Style]]:
    added, _, removed = lines.partition(" ")
    yield added, look.GOOD
    yield f" {removed}", look.BAD


def _body(path: str, diff: str, width: int) -> Iterator[Text]:
    language = _language(path)
    old, new = Highlighter(language), Highlighter(language)
    at_old = at_new = 0
    for number, line in enumerate(diff.split("\n")):
        if hunk := _HUNK.match(line):
            at_old, at_new = int(hunk[1]), int(hunk[2])
            old, new = Highlighter(language), Highlighter(language)
            if number:
                yield Text("    ⋮", look.DIM)
            continue
        sign, style = _SIGNS.get(line[:1], _SIGNS[" "])
        removed, added = line[:1] == "-", line[:1] == "+"
        code = old.line(line[1:]) if removed else new.line(line[1:])
        if not (removed or added):
            old.line(line[1:])
        gutter = f"{at_old if removed else at_new:>3} {sign} "
        at_old, at_new = at_old + (not added), at_new + (not removed)
        for row, part in enumerate(fold(code, max(8, width - len(gutter)))):
            yield Text.assemble((gutter if row == 0 else f"{sign:>5} ", style), part)


def _language(path: str) -> str:
    from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        return str(get_lexer_for_filename(path).aliases[0])
    except (ClassNotFound, IndexError):
        return ""
