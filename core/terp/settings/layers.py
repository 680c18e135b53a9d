"""Settings from several places, where the stronger one holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from terp.settings import Settings


@dataclass(frozen=True)
class Given:
    """A value that somebody gave, and where; of rules with `places`, each has a place of its own.

    `by_project` tells that a project has brought it, and not the person.
    """

    value: Any
    origin: str
    places: tuple[str, ...] = ()
    by_project: bool = False

    def beside(self, weaker: "Given") -> "Given":
        """The rules of both."""
        origins = dict.fromkeys((self.origin, weaker.origin))
        return Given((*self.value, *weaker.value), ", ".join(origins), (*self.all_places, *weaker.all_places))

    @property
    def all_places(self) -> tuple[str, ...]:
        """The place of each rule."""
        return self.places or (self.origin,) * len(self.value)


Layer = Mapping[str, Given]
_ADD_UP = frozenset({"allow", "ask", "deny"})


def combine(layers: Sequence[Layer]) -> Settings:
    """Settings of several layers, the strongest first; the rules of all of them."""
    given: dict[str, Given] = {}
    for layer in layers:
        both = {name: given[name].beside(layer[name]) for name in _ADD_UP & given.keys() & layer.keys()}
        given = {**layer, **given, **both}
    values = {name: one.value for name, one in given.items()}
    return Settings(
        **values,
        origins={name: one.origin for name, one in given.items()},
        by_project=frozenset(name for name, one in given.items() if one.by_project),
        rule_places={name: given[name].all_places for name in _ADD_UP & given.keys()},
    )
