"""The rules that would have let a piece of code run without a question."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from terp.analysis.rules.deciding import Rules
from terp.analysis.rules.parts import parts_of
from terp.analysis.rules.rule import NOTHING, NoRule, read_rule
from terp.events import CodeProposed
from terp.events.effects import EffectKind

_TELLING: dict[frozenset[EffectKind], str] = {
    frozenset(): "any code that only computes",
    frozenset({"reads"}): "any code that only reads",
    frozenset({"writes"}): "any code that only writes files",
    frozenset({"reads", "writes"}): "any code that only reads and writes files",
}
"""The effects that are offered; a rule on others a person has to write."""
_SIMPLE = re.compile(r"[a-z]+: [\w./][\w./ -]*")


@dataclass(frozen=True, slots=True)
class Offer:
    """The texts of rules, each with what it means in words; or why there are none."""

    rules: tuple[tuple[str, str], ...] = ()
    why: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The rules alone."""
        return tuple(text for text, _ in self.rules)


def offered(proposed: CodeProposed) -> Offer:
    """What would have allowed this code: its very commands, or else its effects where all are known."""
    if proposed.asks:
        return Offer(why=f"You are asked about this each time: {proposed.asks}.")
    on_commands = _on_commands(proposed)
    if on_commands.rules:
        return on_commands
    kinds = proposed.effects.kinds
    if kinds in _TELLING:
        text = f"effects: {' '.join(sorted(kinds)) or NOTHING}"
        return Offer(((text, _TELLING[kinds]),))
    told = ", ".join(effect.kind for effect in proposed.effects.found)
    return Offer(why=on_commands.why or f"No rule is offered for code with these effects: {told}.")


def as_yaml(texts: Sequence[str]) -> list[str]:
    """Lines of YAML that keep rules."""
    return ["allow:", *(f"  - {text if _SIMPLE.fullmatch(text) else json.dumps(text)}" for text in texts)]


def _on_commands(proposed: CodeProposed) -> Offer:
    texts: dict[str, str] = {}
    for part in parts_of(proposed.language, proposed.code):
        if part.odd:
            return Offer(why=f"No rule can allow `{part.text}`: {part.odd}.")
        text = f"shell: {shlex.join(word.text for word in part.words)}"
        try:
            read_rule("allow", text, "")
        except NoRule as error:
            why = str(error)
            return Offer(why=f"{why[0].upper()}{why[1:]}.")
        texts[text] = "this command, exactly so"
    rules = Rules()
    rules.add(texts)
    if rules.ruling(proposed.language, proposed.code, proposed.effects).verdict != "allow":
        return Offer()
    return Offer(tuple(texts.items()))
