"""What tests of rules share: rules in short, and what they say about code."""

from terp.analysis.effects.cells import effects_of
from terp.analysis.rules.deciding import Rules, Ruling
from terp.analysis.rules.rule import Verdict, read_rule


def rules(*, allow: tuple[str, ...] = (), ask: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> Rules:
    given: dict[Verdict, tuple[str, ...]] = {"deny": deny, "ask": ask, "allow": allow}
    return Rules([read_rule(verdict, text, "x.yaml:1") for verdict, texts in given.items() for text in texts])


def ruling(rules: Rules, code: str, language: str = "shell") -> Ruling:
    return rules.ruling(language, code, effects_of(language, code))


def verdict(rules: Rules, code: str, language: str = "shell") -> str:
    return ruling(rules, code, language).verdict
