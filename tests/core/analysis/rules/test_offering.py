"""Which rules would have let a piece of code run, as they are offered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.analysis.effects.cells import effects_of
from terp.analysis.rules.deciding import Rules
from terp.analysis.rules.offering import offered
from terp.events import CodeProposed


def proposed(code: str, language: str = "shell", asks: str = "") -> CodeProposed:
    return CodeProposed("c1", language, code, "", "/", 0, "none", effects_of(language, code), asks=asks)


@pytest.mark.parametrize(
    ("code", "language", "texts"),
    [
        ("git status", "shell", ["shell: git status"]),
        ("make all && make all; pytest -q", "shell", ["shell: make all", "shell: pytest -q"]),
        ("grep '*' 'a b'", "shell", ["shell: grep '*' 'a b'"]),
        ("ls *.py", "shell", ["effects: reads"]),
        ("1 + 1", "python", ["effects: none"]),
        ("open('a').read()", "python", ["effects: reads"]),
        ("open('b', 'w').write(open('a').read())", "python", ["effects: reads writes"]),
    ],
)
def test_offered_are_the_commands_themselves_or_else_the_effects(
    code: str, language: str, texts: list[str]
) -> None:
    assert list(offered(proposed(code, language), held=True).texts) == texts


@pytest.mark.parametrize(
    ("code", "language", "why"),
    [
        (
            "python x.py",
            "shell",
            "`python` runs whatever it is given, so no rule allows it; name what it would run.",
        ),
        (
            "make; sudo ls",
            "shell",
            "`sudo` runs whatever it is given, so no rule allows it; name what it would run.",
        ),
        ("make > log", "shell", "No rule can allow `make > log`: it is redirected."),
        ("unknown()", "python", "No rule is offered for code with these effects: cannot tell."),
        ("import os; os.remove('x')", "python", "No rule is offered for code with these effects: deletes."),
    ],
)
def test_where_nothing_is_offered_the_reason_is_told(code: str, language: str, why: str) -> None:
    offer = offered(proposed(code, language), held=True)
    assert (offer.texts, offer.why) == ((), why)


def test_nothing_is_offered_against_a_rule_that_asks() -> None:
    offer = offered(proposed("git push", asks="rule shell: git push ** (a.yaml:2)"), held=True)
    assert (offer.texts, offer.why) == (
        (),
        "You are asked about this each time: rule shell: git push ** (a.yaml:2).",
    )


@given(
    st.text()
    | st.lists(st.sampled_from(["make", "ls", " ", "*", "'*'", ";", "\\", "#", "=", "'", "é"])).map("".join)
)
def test_what_is_offered_allows_the_code_it_is_offered_for(code: str) -> None:
    one = proposed(code)
    offer = offered(one, held=True)
    if offer.texts:
        rules = Rules()
        rules.add(offer.texts)
        assert rules.ruling("shell", code, one.effects).verdict == "allow"
