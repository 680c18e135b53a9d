"""Many pieces of code at once: those that do harm are told, those that models write stay quiet."""

from collections.abc import Iterator

from terp.effects.analysis import effects_of
from terp.effects.found import EffectKind, Effects
from tests.core.effects.cells import hostile_cells, said
from tests.core.effects.unsafe_cells import CELLS
from tests.core.rules.written import rules

HARMLESS: frozenset[EffectKind] = frozenset({"reads"})
READING = rules(allow=("effects: none", "effects: reads"))


def hostile() -> Iterator[tuple[str, str, str]]:
    yield from hostile_cells()
    yield from (("python", code, kind) for code, kind in CELLS)


def is_quiet(effects: Effects) -> bool:
    return effects.kinds <= HARMLESS


def test_no_code_that_does_harm_is_shown_as_harmless() -> None:
    told = [(language, code, kind, effects_of(language, code)) for language, code, kind in hostile()]
    assert {(language, code): said(one) for language, code, kind, one in told if kind not in one.kinds} == {}
    assert {(language, code): said(one) for language, code, _, one in told if is_quiet(one)} == {}


def test_no_rule_on_harmless_effects_allows_code_that_does_harm() -> None:
    allowed = [
        code
        for language, code, _ in hostile()
        if READING.ruling(language, code, effects_of(language, code)).verdict == "allow"
    ]
    assert allowed == []


def test_the_cells_that_do_harm_are_many_and_none_stands_there_twice() -> None:
    found = [(language, code) for language, code, _ in hostile()]
    assert len(found) == len(set(found)) >= 300
    assert sum(language == "python" for language, _ in found) >= 220
