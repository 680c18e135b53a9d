"""Context windows and prices of the models that settings name, looked up without a request."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache

from terp.errors import SettingsError
from terp.models.adapters.routing import route
from terp.models.building import options_of, settings_for
from terp.models.facts.abilities import Abilities
from terp.models.facts.model_facts import UNKNOWN, ModelFacts, Window
from terp.settings import Settings


def windows(settings: Settings, environ: Mapping[str, str]) -> Callable[[str], Window]:
    """Return a function from the name that a model reports to its window; each is looked up once.

    The settings take precedence over the price list, where a lookup takes 5 ms.
    """

    @cache
    def window(name: str) -> Window:
        configured = Window(
            settings.context_window,
            settings.max_tokens,
            settings.compact_at,
            settings.supports_vision is not False,
        )
        if (found := abilities_of(name, settings, environ)) is None:
            return configured
        return Window(found.context_window or 0, configured.reply, configured.share, found.vision)

    return window


def abilities_of(name: str, settings: Settings, environ: Mapping[str, str]) -> Abilities | None:
    """Return the abilities of the model that reports this name; None if it has no known provider.

    Facts in the settings apply only to the model that the settings name.
    """
    # A recording goes by whatever name it was made with.
    with suppress(SettingsError):
        options = options_of(settings, "")
        own = route(options, environ)
        if name == own.full_name:
            return Abilities(own, options)
        other = options_of(settings_for(name, settings.model, settings, "")[0], "")
        return Abilities(route(other, environ), other)
    return None


def known_prices(settings: Settings, environ: Mapping[str, str]) -> Callable[[str], ModelFacts]:
    """Return a function from the name that a model reports to its prices; each is looked up once.

    Prices in the settings apply to the model that they name; other models have those of the price list.
    """

    @cache
    def facts(name: str) -> ModelFacts:
        found = abilities_of(name, settings, environ)
        return found.facts if found else UNKNOWN

    return facts
