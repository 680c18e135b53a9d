"""Edits of files as diffs: those that code spells out in calls of `edit_file`, and changes of a run."""

import ast
import difflib
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from terp.events.changes import line_counts
from terp.events.outputs import FileChange
from terp.text.dataclasses import dataclass, replace

# Bytes of a file, or characters of code; characters of a diff.
_LARGEST, _LONGEST_DIFF = 200_000, 20_000
_MOST_WORDS, _LONGEST_PATH = 200, 1_000
_BETWEEN_WORDS = re.compile(r"[\s'\"`=<>;|&()\[\]{},$]+")


@dataclass(frozen=True, slots=True)
class FileDiff:
    """A text file that code changes: its path, as in the code, and the hunks of a unified diff."""

    path: str
    diff: str

    @property
    def lines(self) -> str:
        """The numbers of added and removed lines: `+1 −1`."""
        return line_counts(self.count("+"), self.count("-"))

    def count(self, sign: str) -> int:
        """Return the number of added ("+") or removed ("-") lines."""
        return sum(line.startswith(sign) for line in self.diff.split("\n"))


def texts_named(code: str, cwd: str) -> dict[str, str]:
    """Return the texts of small files that are named in code, by absolute path; `cwd` is that of the code."""
    words = {word for word in _BETWEEN_WORDS.split(code[:_LARGEST]) if word and len(word) < _LONGEST_PATH}
    paths = [str(Path(cwd, word).expanduser()) for word in sorted(words)[:_MOST_WORDS]]
    texts = ((os.path.normpath(path), text_at(Path(path))) for path in paths)
    return {path: text for path, text in texts if text is not None}


def compared(change: FileChange, before: str | None) -> FileChange:
    """Return the change of a modified text file with its lines and diff, from the text `before` it."""
    if before is None or change.action != "modified" or change.diff or change.host:
        return change
    if (after := text_at(Path(change.path))) is None:
        return change
    edit = FileDiff(change.path, _diff(before, after))
    diff = edit.diff if len(edit.diff) <= _LONGEST_DIFF else ""
    return replace(change, added=edit.count("+"), removed=edit.count("-"), diff=diff)


def spelled_edits(language: str, code: str, cwd: str) -> list[FileDiff]:
    """Return the diffs of the files that calls of `edit_file` change, as far as `spelled_calls` knows them.

    The files are read, relative to `cwd`. A call whose old text is not there exactly once changes nothing.
    """
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for path, old, new in spelled_calls(language, code):
        if path not in before:
            text = text_at(Path(cwd, path).expanduser()) if old else ""
            before[path] = after[path] = text or ""
        text = after[path]
        if text.count(old) == 1 or not (old or text):
            after[path] = text.replace(old, new) if old else new
    return [FileDiff(path, _diff(text, after[path])) for path, text in before.items() if text != after[path]]


def spelled_calls(language: str, code: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, old and new text of each call of `edit_file` whose texts are literals, in the code's order.

    They are literals in the call, or in the only assignment to a name, before it.
    """
    try:
        tree = ast.parse(code if language == "python" and "edit_file" in code else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    nodes = list(ast.walk(tree))
    texts = _named_texts(tree, nodes)
    calls = [one for one in nodes if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "edit_file"]
    # `ast.walk` yields what is nested last.
    for node in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        names = dict(zip(("path", "old", "new"), node.args, strict=False))
        names |= {given.arg: given.value for given in node.keywords if given.arg}
        if len(names) == len(node.args) + len(node.keywords) and names.keys() == {"path", "old", "new"}:
            path, old, new = (_text_of(names[name], texts, node.lineno) for name in ("path", "old", "new"))
            if path is not None and old is not None and new is not None:
                yield path, old, new


def _text_of(node: ast.expr, texts: dict[str, tuple[str, int]], line: int) -> str | None:
    if isinstance(node, ast.Name) and node.id in texts:
        text, bound = texts[node.id]
        return text if bound < line else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _named_texts(tree: ast.Module, nodes: list[ast.AST]) -> dict[str, tuple[str, int]]:
    """Return the texts of names that the code binds once, at its top level, each with its last line."""
    stored = [node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    stored += [node.arg for node in nodes if isinstance(node, ast.arg)]
    once = {name for name, times in Counter(stored).items() if times == 1}
    return {
        target.id: (value.value, value.end_lineno or 0)
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(value := statement.value, ast.Constant)
        for target in statement.targets
        if isinstance(target, ast.Name) and target.id in once and isinstance(value.value, str)
    }


def text_at(path: Path) -> str | None:
    """Return the text of a file of at most 200 kB; None for any other, and for one that is no text."""
    try:
        if path.stat().st_size > _LARGEST or not path.is_file():
            return None
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return None if "\0" in text else text


def _diff(before: str, after: str) -> str:
    hunks = difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")
    return "\n".join(list(hunks)[2:])
