"""The rules that would have let a piece of code run without a question."""

import shlex

from terp.analysis.rules.commands import parts_of
from terp.analysis.rules.deciding import Rules
from terp.analysis.rules.rule import NOTHING, NoRule, read_rule
from terp.events import CodeProposed
from terp.events.effects import EffectKind
from terp.text.dataclasses import dataclass

_MEANINGS: dict[frozenset[EffectKind], str] = {
    frozenset(): "any code that only computes",
    frozenset({"reads"}): "any code that only reads",
    frozenset({"writes"}): "any code that only writes files",
    frozenset({"reads", "writes"}): "any code that only reads and writes files",
}
"""The effects that rules are offered for; rules on other effects must be written by hand."""
_NOT_HELD = "Rules on effects need a kernel that holds them: /approve effect asks when effects happen."


@dataclass(frozen=True, slots=True)
class Offer:
    """Texts of rules, each with its meaning in words; or why there are none."""

    rules: tuple[tuple[str, str], ...] = ()
    why: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the rules, without their meanings."""
        return tuple(text for text, _ in self.rules)


def offered(proposed: CodeProposed, *, held: bool) -> Offer:
    """Return rules that would have allowed this code: on its commands, or on its effects if `held`."""
    if proposed.asks:
        return Offer(why=f"You are asked about this each time: {proposed.asks}.")
    on_commands = _on_commands(proposed)
    if on_commands.rules:
        return on_commands
    if not held:
        return Offer(why=on_commands.why or _NOT_HELD)
    kinds = proposed.effects.kinds
    if kinds in _MEANINGS:
        text = f"effects: {' '.join(sorted(kinds)) or NOTHING}"
        return Offer(((text, _MEANINGS[kinds]),))
    kinds_found = ", ".join(effect.kind for effect in proposed.effects.found)
    return Offer(why=on_commands.why or f"No rule is offered for code with these effects: {kinds_found}.")


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
