"""The kernelspecs of a gateway, and the languages that they are offered as."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from terp.errors import SettingsError
from terp.text.languages import language_of


@dataclass(frozen=True, slots=True)
class GatewaySpec:
    """A kernelspec of a gateway: its name, its language in lower case, and what it is called there."""

    name: str
    language: str
    title: str


def chosen_specs(
    specs: Sequence[GatewaySpec], languages: Sequence[str], host: str
) -> Mapping[str, GatewaySpec]:
    """The kernelspecs for the languages that were chosen, in that order; without a choice all.

    A kernelspec can be chosen by its own name as well. The first one for a language goes by the language's
    name, another one by its own.

    Raises:
        SettingsError: there is none for one of them.
    """
    named = _named(specs)
    if not languages:
        return named
    found = {word: named.get(language_of(word, tuple(named))) or _called(specs, word) for word in languages}
    if unknown := [word for word, spec in found.items() if spec is None]:
        told = ", ".join(named)
        raise SettingsError([f"languages: {host} runs no {word!r}; it runs {told}." for word in unknown])
    return _named([spec for spec in found.values() if spec is not None])


def _named(specs: Sequence[GatewaySpec]) -> dict[str, GatewaySpec]:
    named: dict[str, GatewaySpec] = {}
    for spec in specs:
        taken = language_of(spec.language, tuple(named))
        named.setdefault(spec.name.casefold() if taken else spec.language, spec)
    return named


def _called(specs: Sequence[GatewaySpec], word: str) -> GatewaySpec | None:
    return next((spec for spec in specs if spec.name.casefold() == word.casefold()), None)
