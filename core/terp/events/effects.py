"""The expected effects of code, as plain data.

An account without "cannot tell" means that every part of the code is known.
An account without any kind means that the code only computes; code that was not read is `NOT_ANALYSED`.
"""

from typing import Literal, get_args

from terp.text.dataclasses import dataclass

EffectKind = Literal[
    "reads", "writes", "network", "deletes", "subprocess", "installs", "secrets", "cannot tell"
]
KINDS: tuple[EffectKind, ...] = get_args(EffectKind)
Place = tuple[int, int]
"""A line, counted from 1, and a column."""

# What one effect names at most: a generated cell may touch thousands of files.
_MOST_TARGETS = 50


@dataclass(frozen=True, slots=True)
class Effect:
    """One kind of effect and what it touches, in the order of the code.

    A target is as the code has it: a path, a pattern, a host, a command; what is computed stands in
    braces (`out_{year}.csv`). `more` counts the targets that are not listed.
    """

    kind: EffectKind
    targets: tuple[str, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Effects:
    """All effects of a piece of code, at most one of each kind, in the order of `KINDS`."""

    found: tuple[Effect, ...] = ()

    @property
    def kinds(self) -> frozenset[EffectKind]:
        """The kinds of effect; empty for code that only computes."""
        return frozenset(effect.kind for effect in self.found)

    def targets(self, kind: EffectKind) -> tuple[str, ...]:
        """Return the targets of the effect of this kind; empty if there is none."""
        return next((effect.targets for effect in self.found if effect.kind == kind), ())


NOT_ANALYSED = Effects((Effect("cannot tell", ("it was not analysed",)),))


def cannot_tell(why: str) -> Effects:
    """Return the account of code that was not read."""
    return Effects((Effect("cannot tell", (why,)),))


class Finder:
    """Collects effects in any order and sorts them into that of the code."""

    def __init__(self) -> None:
        self._found: dict[tuple[EffectKind, str], Place] = {}

    def add(self, kind: EffectKind, target: str, at: Place) -> None:
        """Add an effect; the first place of each counts."""
        key = (kind, target)
        known = self._found.get(key)
        self._found[key] = at if known is None else min(at, known)

    def doubt(self, what: str, at: Place) -> None:
        """Add "cannot tell" for a part of the code at this place."""
        self.add("cannot tell", f"{what} (line {at[0]})", at)

    def merge(self, other: "Finder") -> None:
        """Add all effects of another finder."""
        for (kind, target), at in other._found.items():
            self.add(kind, target, at)

    def effects(self) -> Effects:
        """Return the effects so far."""
        by_kind: dict[EffectKind, list[tuple[Place, str]]] = {}
        for (kind, target), at in self._found.items():
            by_kind.setdefault(kind, []).append((at, target))
        return Effects(tuple(_effect(kind, by_kind[kind]) for kind in KINDS if kind in by_kind))


def _effect(kind: EffectKind, found: list[tuple[Place, str]]) -> Effect:
    # A target without a name says nothing beside one that has one, nor a part of a path beside the whole.
    named = [target for _, target in sorted(found, key=lambda one: one[0]) if target]
    if kind == "secrets" and len(named) < 4 * _MOST_TARGETS:
        named = [
            target for target in named if not any(target != other and target in other for other in named)
        ]
    return Effect(kind, tuple(named[:_MOST_TARGETS]), max(0, len(named) - _MOST_TARGETS))
