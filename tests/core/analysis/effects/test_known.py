"""The files of known names: in order, without doubles, and with blocks that have a meaning."""

import re
from pathlib import Path
from typing import get_args

import pytest

from terp.analysis.effects import known
from terp.analysis.effects.known import python_names, shell_tools
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


def test_every_set_of_names_is_used() -> None:
    room = Path(known.__file__).parents[1]
    code = "".join(file.read_text(encoding="utf-8") for file in room.rglob("*.py"))
    used = {*re.findall(r'"([\w ]+)"', code), *(f"git {kind}" for kind in get_args(EffectKind))}
    heads = {head for file in FILES if file.stem in ("effects", "shell", "words") for head, _ in blocks(file)}
    assert {head for head in heads if ":" not in head} - used == set()


def test_what_lies_in_a_group_of_an_installer_is_known() -> None:
    words = [words.split() for words in shell_tools().installers["uv pip"]]
    assert words == [["install", "sync"], ["list", "show", "freeze", "check", "tree"]]
