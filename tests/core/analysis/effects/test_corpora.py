"""Many pieces of code at once: those that do harm are told, those that models write stay quiet."""

from collections.abc import Iterator

from terp.analysis.effects.cells import effects_of
from terp.events.effects import EffectKind, Effects
from tests.core.analysis.effects.cells import harmless_cells, hostile_cells, said
from tests.core.analysis.effects.unsafe_cells import CELLS
from tests.core.analysis.rules.written import rules

HARMLESS: frozenset[EffectKind] = frozenset({"reads"})
READING = rules(allow=("effects: none", "effects: reads"))


def hostile() -> Iterator[tuple[str, str, str]]:
    yield from hostile_cells()
    yield from (("python", code, kind) for code, kind in CELLS)


def evasive() -> Iterator[tuple[str, str, frozenset[EffectKind]]]:
    """The language of code, the code, and the kinds that would say too little of it."""
    for code, head in harmless_cells("evasive_cells.txt"):
        language, _, told = head.partition(": ")
        yield language, code, frozenset() if told else HARMLESS


def is_quiet(effects: Effects) -> bool:
    return effects.kinds <= HARMLESS


def test_no_code_that_does_harm_is_shown_as_harmless() -> None:
    told = [(language, code, kind, effects_of(language, code)) for language, code, kind in hostile()]
    assert {(language, code): said(one) for language, code, kind, one in told if kind not in one.kinds} == {}
    assert {(language, code): said(one) for language, code, _, one in told if is_quiet(one)} == {}


def test_no_code_that_evades_the_account_is_shown_as_harmless() -> None:
    told = {(language, code): effects_of(language, code) for language, code, _ in evasive()}
    quiet = [code for language, code, least in evasive() if told[language, code].kinds <= least]
    assert quiet == []
    assert len(told) >= 160


def test_no_rule_on_harmless_effects_allows_code_that_does_harm() -> None:
    allowed = [
        code
        for language, code, least in (*hostile(), *evasive())
        if least and READING.ruling(language, code, effects_of(language, code)).verdict == "allow"
    ]
    assert allowed == []


def test_the_cells_that_do_harm_are_many_and_none_stands_there_twice() -> None:
    found = [(language, code) for language, code, _ in hostile()]
    assert len(found) == len(set(found)) >= 300
    assert sum(language == "python" for language, _ in found) >= 220


def test_nine_cells_in_ten_that_only_compute_and_read_are_quiet() -> None:
    cells = [*harmless_cells("quiet_cells.txt"), *harmless_cells()]
    harmless = {code: told for code, told in cells if told.split(":")[0] in ("computes", "reads")}
    harmless = {code: told for code, told in harmless.items() if " | " not in told}
    seen = {code: effects_of("python", code) for code in harmless}
    other = {code: said(one) for code, one in seen.items() if said(one) != harmless[code]}
    assert {code: told for code, told in other.items() if "cannot tell" not in told} == {}
    assert len(harmless) >= 200
    assert sum(map(is_quiet, seen.values())) >= 0.95 * len(harmless)


def test_ordinary_cells_of_data_analysis_are_read_without_noise() -> None:
    session = {"pd": "pandas", "np": "numpy", "plt": "matplotlib.pyplot", "df": "pandas.DataFrame"}
    cells = harmless_cells("ordinary_cells.txt")
    right = [
        code for code, kind in cells if (effects_of("python", code, session).kinds or {"computes"}) == {kind}
    ]
    assert len(cells) == len(dict(cells)) >= 400
    assert len(right) >= 0.95 * len(cells)
