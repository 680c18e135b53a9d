"""The files of known names: in order, without doubles, and with blocks that have a meaning."""

from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from terp.analysis.effects import known
from terp.analysis.effects.known import PythonNames, ShellTools, python_names, shell_tools
from terp.events.effects import EffectKind

FILES = sorted(Path(known.__file__).with_suffix("").glob("*.txt"))


def blocks(file: Path) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found[-1][1].extend(line.split())
        elif line and not line.startswith("#"):
            found.append((line, []))
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_names_of_a_block_are_in_order_and_stand_once(file: Path) -> None:
    wrong = [head for head, names in blocks(file) if names != sorted(set(names))]
    assert wrong == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_block_stands_once(file: Path) -> None:
    heads = [head for head, _ in blocks(file)]
    assert len(heads) == len(set(heads))


def test_every_effect_is_of_a_known_kind() -> None:
    names = python_names()
    rows = [row for table in (names.functions, names.methods) for rows in table.values() for row in rows]
    assert {row.kind for row in rows} <= set(get_args(EffectKind)) - {"cannot tell"}


def test_no_harmless_name_has_an_effect() -> None:
    names = python_names()
    assert names.harmless & names.functions.keys() == set()


def test_every_set_of_names_is_read() -> None:
    read = {field.name for kind in (PythonNames, ShellTools) for field in fields(kind)}
    words = {"function", "method", "calls", "method calls", "reader", "reads", "writes", "deletes"}
    heads = {
        head.partition(":")[0]
        for file in FILES
        for head, _ in blocks(file)
        if file.stem in ("effects", "shell")
    }
    assert {word.replace(" ", "_") for word in heads - words - {"installer", "wrapper"}} <= read
    assert shell_tools().installers["uv pip"] == ("install sync", "list show freeze check tree")
