"""What each of the models that settings name costs, without asking any of them."""

from collections.abc import Callable, Mapping
from functools import cache

from terp.errors import SettingsError
from terp.models.facts.prices import UNKNOWN, ModelFacts
from terp.models.facts.windows import abilities_of
from terp.settings import Settings


def known_prices(settings: Settings, environ: Mapping[str, str]) -> Callable[[str], ModelFacts]:
    """The prices of a model by the name that it tells; looked up when they are first asked for.

    Those that the settings give are for the model that they name; for any other the price list's count.
    """

    @cache
    def facts(name: str) -> ModelFacts:
        try:
            return abilities_of(name, settings, environ).facts
        except SettingsError:
            # A recording goes by whatever name it was made with.
            return UNKNOWN

    return facts
