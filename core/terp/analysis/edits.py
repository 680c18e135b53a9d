"""The edits of files that code spells out in calls of `edit_file`, as diffs, before it runs."""

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LARGEST = 200_000


@dataclass(frozen=True, slots=True)
class SpelledEdit:
    """A text file that code is about to change: its path in the code, and the hunks of a unified diff."""

    path: str
    diff: str

    @property
    def lines(self) -> str:
        """The numbers of added and removed lines: `+1 −1`."""
        signs = [line[:1] for line in self.diff.split("\n")]
        return f"+{signs.count('+')} −{signs.count('-')}"


def spelled_edits(language: str, code: str, cwd: str) -> list[SpelledEdit]:
    """Return the edits whose path and texts are literals in the code; none of a file that does not fit.

    Files are read, relative to `cwd`. Several edits of one file are one diff.
    """
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for path, old, new in _calls(code) if language == "python" and "edit_file" in code else ():
        if path not in before:
            before[path] = after[path] = _text(Path(cwd, path).expanduser(), new=not old)
        text = after[path]
        if text.count(old) == 1 or not (old or text):
            after[path] = text.replace(old, new) if old else new
    return [
        SpelledEdit(path, _diff(text, after[path])) for path, text in before.items() if text != after[path]
    ]


def _calls(code: str) -> Iterator[tuple[str, str, str]]:
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "edit_file"
        ):
            continue
        names = dict(zip(("path", "old", "new"), node.args, strict=False))
        names |= {given.arg: given.value for given in node.keywords if given.arg}
        texts = [one.value for one in names.values() if isinstance(one, ast.Constant)]
        if names.keys() == {"path", "old", "new"} and len(texts) == len(names):
            path, old, new = (getattr(names[name], "value", None) for name in ("path", "old", "new"))
            if isinstance(path, str) and isinstance(old, str) and isinstance(new, str):
                yield path, old, new


def _text(path: Path, *, new: bool) -> str:
    """Return the text of a small file; "" for any other, also for one that a `new` edit creates."""
    try:
        if new or path.stat().st_size > _LARGEST or not path.is_file():
            return ""
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _diff(before: str, after: str) -> str:
    hunks = difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")
    return "\n".join(list(hunks)[2:])
