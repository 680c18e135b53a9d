"""The verdict of a session's rules on a piece of code: the strictest rule that matches counts."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from terp.events.effects import Effects
from terp.text.dataclasses import dataclass

if TYPE_CHECKING:
    from terp.analysis.rules.rule import Rule, Verdict

_NOT_HELD = "effects are not held in this kernel, so you are asked"
FOR_THE_SESSION = "this session"


@dataclass(frozen=True, slots=True)
class Ruled:
    """The verdict on one part of the code; `why` says why no rule decides, or could."""

    text: str
    verdict: "Verdict | Literal['']" = ""
    rule: "Rule | None" = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict on all of the code; "" if no rule matches.

    `by` names the rules that decide, and `what` the part that they decide about. `on_effects` is True if the
    code may start because its effects are held.
    """

    verdict: "Verdict | Literal['']" = ""
    parts: tuple[Ruled, ...] = ()
    by: str = ""
    what: str = ""
    on_effects: bool = False


class Rules:
    """The rules in effect: those of the settings, and those that the user adds for the session.

    `restrictions` are those of a mode such as planning; they end with it.
    """

    def __init__(self, written: Sequence["Rule"] = ()) -> None:
        self.written = tuple(written)
        self.added: tuple[Rule, ...] = ()
        self.restrictions: tuple[Rule, ...] = ()

    @property
    def all(self) -> "tuple[Rule, ...]":
        """All rules: the restrictions, then the written ones, then the added ones."""
        return (*self.restrictions, *self.written, *self.added)

    def restrict(self, mode: str = "", deny: Iterable[str] = (), ask: Iterable[str] = ()) -> None:
        """Replace the restrictions by these of a mode; without any, end it."""
        from terp.analysis.rules.rule import read_rule  # noqa: PLC0415  (see `add`)

        self.restrictions = (
            *(read_rule("deny", text, mode) for text in deny),
            *(read_rule("ask", text, mode) for text in ask),
        )

    def add(self, texts: Iterable[str]) -> None:
        """Allow more in this session.

        Raises:
            NoRule: one of them is no rule, or can never be allowed.
        """
        from terp.analysis.rules.rule import read_rule  # noqa: PLC0415  (few sessions have rules)

        self.added += tuple(read_rule("allow", text, FOR_THE_SESSION) for text in texts)

    def ruling(self, language: str, code: str, effects: Effects, *, held: bool = True) -> Ruling:
        """Return the verdict on code with these expected effects.

        A rule on effects allows it only where the real ones are `held`.
        """
        if not self.all:
            return Ruling()
        from terp.analysis.rules.rule import verdicts  # noqa: PLC0415  (see `add`)

        found = [Ruled(*verdict) for verdict in verdicts(language, code, self.all)]
        whole = self._on_effects(effects, held=held)
        return _strictest((*found, *([whole] if whole else [])), whole)

    def _on_effects(self, effects: Effects, *, held: bool) -> Ruled | None:
        on_effects = [rule for rule in self.all if not rule.words]
        for verdict in ("deny", "ask"):
            for rule in on_effects:
                # A rule with a target is about what happens.
                if rule.verdict == verdict and not rule.target and (kinds := rule.kinds & effects.kinds):
                    return Ruled(f"effects: {_listed(kinds)}", rule.verdict, rule)
        allowing = [rule for rule in on_effects if rule.verdict == "allow"]
        if not allowing or not effects.kinds <= frozenset().union(*(rule.kinds for rule in allowing)):
            return None
        rule = next((one for one in allowing if effects.kinds <= one.kinds), allowing[0])
        text = f"effects: {_listed(effects.kinds) or 'none'}"
        return Ruled(text, "allow", rule) if held else Ruled(text, "", rule, _NOT_HELD)


def _strictest(parts: tuple[Ruled, ...], whole: Ruled | None) -> Ruling:
    for verdict in ("deny", "ask"):
        for part in parts:
            if part.verdict == verdict and part.rule is not None:
                return Ruling(part.verdict, parts, part.rule.named, f"`{part.text}`")
    deciding = [whole] if whole is not None else parts
    rules = list(dict.fromkeys(part.rule for part in deciding if part.rule is not None))
    if rules and all(part.verdict == "allow" for part in deciding):
        return Ruling("allow", parts, "; ".join(rule.named for rule in rules), on_effects=whole is not None)
    return Ruling(parts=parts)


def _listed(kinds: Iterable[str]) -> str:
    return " ".join(sorted(kind.replace(" ", "-") for kind in kinds))
