"""The code in a reply of a model, in whichever way it was written."""

import ast
import re
from collections.abc import Sequence

from terp.checks.solve.single import blocks
from terp.checks.solve.splitting import names_in
from terp.events.messages import Assistant
from terp.models.tool import Call, understand

CODE, TEST = "code", "test"
_PYTHON = ("", "python", "py", "python3")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})[\w+-]*\n(.*?)\n?\s*\1\s*", re.DOTALL)


def code_in(reply: Assistant, wanted: frozenset[str] = frozenset(), kind: str = CODE) -> str:
    """The code that a reply gives; "" where there is none.

    It stands between `===code-start===` and `===code-end===`, in a call of a tool, or in a fenced block: the
    last that defines all that is `wanted`, else the last one. A reply of Python alone is code, too.
    """
    if marked := between_marks(reply.text, kind):
        return marked
    if called := _called(reply):
        return called
    fenced = [block for language, block in blocks(reply.text) if language in _PYTHON and block.strip()]
    if fenced:
        return _best(fenced, wanted)
    return f"{reply.text.strip()}\n" if names_in(reply.text) or _is_tests(reply.text, kind) else ""


def between_marks(text: str, kind: str) -> str:
    """What stands between the last marks of a kind, without a fence around all of it."""
    start, end = f"==={kind}-start===", f"==={kind}-end==="
    if start not in text:
        return ""
    inner = text.rpartition(start)[2].partition(end)[0]
    if fenced := _FENCE.fullmatch(inner):
        inner = fenced[2]
    code = inner.strip("\n").rstrip()
    return f"{code}\n" if code else ""


def _called(reply: Assistant) -> str:
    read = [understand(call, ("python",)) for call in reply.calls]
    codes = [call.code for call in read if isinstance(call, Call) and call.language == "python"]
    return f"{codes[-1].rstrip()}\n" if codes else ""


def _best(fenced: Sequence[str], wanted: frozenset[str]) -> str:
    whole = [block for block in fenced if wanted and wanted <= names_in(block)]
    return (whole or fenced)[-1]


def _is_tests(text: str, kind: str) -> bool:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return False
    return kind == TEST and any(isinstance(statement, ast.Assert) for statement in body)
