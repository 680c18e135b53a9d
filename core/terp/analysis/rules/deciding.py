"""What the rules of a session say about a piece of code: the strictest that matches counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from terp.events.effects import Effects

if TYPE_CHECKING:
    from terp.analysis.rules.parts import Part
    from terp.analysis.rules.rule import Rule, Verdict

FOR_THE_SESSION = "this session"


@dataclass(frozen=True, slots=True)
class Ruled:
    """One part of the code, and what is said about it; `why` where no rule says so, or could."""

    text: str
    verdict: "Verdict | Literal['']" = ""
    rule: "Rule | None" = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is said about all of it; "" where no rule says anything.

    `by` names the rules that decide, and `what` the part that they decide about.
    """

    verdict: "Verdict | Literal['']" = ""
    parts: tuple[Ruled, ...] = ()
    by: str = ""
    what: str = ""


class Rules:
    """The rules in effect: those of the settings, and those that the person adds for the session."""

    def __init__(self, written: Sequence["Rule"] = ()) -> None:
        self.written = tuple(written)
        self.added: tuple[Rule, ...] = ()

    @property
    def all(self) -> "tuple[Rule, ...]":
        """All of them, as they were written and then as they were added."""
        return (*self.written, *self.added)

    def add(self, texts: Iterable[str]) -> None:
        """Allow more in this session.

        Raises:
            NoRule: one of them is no rule, or can never be allowed.
        """
        from terp.analysis.rules.rule import read_rule  # noqa: PLC0415  (few sessions have rules)

        self.added += tuple(read_rule("allow", text, FOR_THE_SESSION) for text in texts)

    def ruling(self, language: str, code: str, effects: Effects) -> Ruling:
        """What they say about code with these effects."""
        if not self.all:
            return Ruling()
        from terp.analysis.rules.parts import parts_of  # noqa: PLC0415  (see `add`)

        parts = [self._on_part(part) for part in parts_of(language, code)]
        whole = self._on_effects(effects)
        found = parts if whole is None else [*parts, whole]
        return _strictest(tuple(found), whole)

    def _on_part(self, part: "Part") -> Ruled:
        from terp.analysis.rules.parts import reached  # noqa: PLC0415  (see `add`)
        from terp.analysis.rules.patterns import covers, fits, may_fit  # noqa: PLC0415

        on_commands = [rule for rule in self.all if rule.words]
        strict = [rule for rule in on_commands if rule.verdict != "allow"]
        if not part.read:
            # What is not read could hold what a rule is against.
            asks = next(iter(strict), None)
            return Ruled(part.text, "ask" if asks else "", asks, part.odd)
        commands = list(reached(part)) if strict else []
        for verdict in ("deny", "ask"):
            for rule in strict:
                if rule.verdict == verdict and any(fits(rule.words, words) for words in commands):
                    return Ruled(part.text, rule.verdict, rule)
        for rule in strict:
            if any(may_fit(rule.words, words) for words in commands):
                return Ruled(part.text, "ask", rule, "it may come to what this rule is about")
        if part.odd:
            return Ruled(part.text, why=part.odd)
        for rule in on_commands:
            if rule.verdict == "allow" and covers(rule.words, part.words):
                return Ruled(part.text, "allow", rule)
        return Ruled(part.text)

    def _on_effects(self, effects: Effects) -> Ruled | None:
        on_effects = [rule for rule in self.all if not rule.words]
        for verdict in ("deny", "ask"):
            for rule in on_effects:
                if rule.verdict == verdict and (kinds := rule.kinds & effects.kinds):
                    return Ruled(f"effects: {_told(kinds)}", rule.verdict, rule)
        for rule in on_effects:
            if rule.verdict == "allow" and effects.kinds <= rule.kinds:
                return Ruled(f"effects: {_told(effects.kinds) or 'none'}", "allow", rule)
        return None


def _strictest(parts: tuple[Ruled, ...], whole: Ruled | None) -> Ruling:
    for verdict in ("deny", "ask"):
        for part in parts:
            if part.verdict == verdict and part.rule is not None:
                return Ruling(part.verdict, parts, part.rule.named, f"`{part.text}`")
    deciding = [whole] if whole is not None else parts
    rules = list(dict.fromkeys(part.rule for part in deciding if part.rule is not None))
    if rules and all(part.verdict == "allow" for part in deciding):
        return Ruling("allow", parts, "; ".join(rule.named for rule in rules))
    return Ruling(parts=parts)


def _told(kinds: Iterable[str]) -> str:
    return " ".join(sorted(kind.replace(" ", "-") for kind in kinds))
