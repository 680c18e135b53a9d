"""The words of the source: docstrings that say what a thing is or does, and one class for each name."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_architecture import CLI, CORE, sources

# A docstring that begins so names a thing by a clause, where a verb or a noun of the field would name it.
CLAUSES = {"What", "Who", "Whom", "Whose", "Whether", "Those", "Nothing", "How", "Which"}
# It meant reported, sent to the model, shown, logged or returned: the text has to say which.
VAGUE = re.compile(r"(?<![a-z])(told|tell)(?![a-z])", re.IGNORECASE)
VAGUE_AT_MOST = 60

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstrings() -> Iterator[tuple[str, str]]:
    """The place and the text of each docstring."""
    for path, tree in sources(CORE, CLI):
        for node in ast.walk(tree):
            if isinstance(node, Documented) and (text := ast.get_docstring(node)):
                yield f"{path}:{getattr(node, 'lineno', 1)}", text


def public_classes() -> Iterator[str]:
    """The names of all public classes, once for each class."""
    for _, tree in sources(CORE, CLI):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name


def test_every_docstring_begins_with_a_verb_or_a_noun() -> None:
    found = [
        f"{place}: {text.splitlines()[0]}"
        for place, text in docstrings()
        if text.split()[0].strip("`,.:;") in CLAUSES
    ]
    assert found == []


def test_each_public_class_has_a_name_that_no_other_has() -> None:
    assert [name for name, count in Counter(public_classes()).items() if count > 1] == []


@pytest.mark.parametrize("root", [CORE, CLI], ids=lambda root: root.name)
def test_the_source_says_who_reports_what_to_whom(root: Path) -> None:
    places = [
        f"{path}:{number}"
        for path in sorted(root.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for _ in VAGUE.findall(line)
    ]
    assert len(places) <= VAGUE_AT_MOST // 2, places
