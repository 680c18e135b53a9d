"""What is written where an encoding lacks a sign."""

import ast
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

import terp_cli
from terp_cli.terminal.glyphs import STAND_INS, stand_ins, writes_formulas

PACKAGE = Path(terp_cli.__file__).parent
# They search foreign text for these characters.
READERS = {"sanitise.py", "early.py", "rows.py", "glyphs.py"}
# Formulas are for terminals that can write their signs.
READERS |= {"atoms.py", "spelling.py", "latex_reader.py", "latex.py", "latex_symbols.py"}
# Pictures are drawn where all of Unicode can be written, or not at all.
READERS |= {"blocks.py", "escapes.py", "tmux.py"}
LIVE = "›·•─│✓✗⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "✓ ran · 1 ms › “so”… \u4e2d"),
        ("latin-1", '+ ran · 1 ms > "so"... \\u4e2d'),
        ("ascii", '+ ran - 1 ms > "so"... \\u4e2d'),
        ("cp437", '+ ran · 1 ms > "so"... \\u4e2d'),
    ],
)
def test_a_sign_stays_where_it_can_and_has_a_stand_in_where_it_cannot(encoding: str, shown: str) -> None:
    assert "✓ ran · 1 ms › “so”… \u4e2d".encode(encoding, stand_ins()).decode(encoding) == shown


def test_only_encodings_of_unicode_have_the_signs_of_formulas() -> None:
    assert [name for name in ("utf-8", "utf-16", "ascii", "latin-1", "cp437") if writes_formulas(name)] == [
        "utf-8",
        "utf-16",
    ]


def test_a_stream_never_fails_to_encode() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", errors=stand_ins())
    stream.write("› \udc80\U0001f600\n")
    stream.flush()
    assert stream.buffer.getvalue() == b"> \\udc80\\U0001f600\n"


def test_a_stand_in_in_a_row_that_is_measured_is_as_wide_as_its_sign() -> None:
    assert [sign for sign in LIVE if cell_len(sign) != len(STAND_INS[sign])] == []


def test_every_sign_that_terp_writes_has_a_stand_in() -> None:
    signs = {
        (path.name, sign)
        for path in PACKAGE.rglob("*.py")
        # A notebook reads its Markdown, and no terminal.
        if path.name not in READERS and path.parent.name != "notebook"
        for text in written(ast.parse(path.read_text(encoding="utf-8")))
        for sign in text
        if not sign.isascii() and not sign.isalpha()
    }
    assert {found for found in signs if found[1] not in STAND_INS} == set()


def written(tree: ast.Module) -> Iterator[str]:
    """The texts of a module that are no docstrings and no patterns."""
    passed_over = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and is_text(node.value)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            passed_over.update(id(part) for part in ast.walk(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed_over:
            yield node.value


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
