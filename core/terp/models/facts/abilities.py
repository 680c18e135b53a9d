"""Abilities and prices of one model, looked up when first needed."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from terp.events.messages import Message
from terp.models.adapters.routing import Route
from terp.models.facts.model_facts import UNKNOWN, ModelFacts, PriceList
from terp.settings.model_settings import ModelOptions

_UNPREFIXED = frozenset({"openai", "anthropic", "bedrock", "cohere", "cohere_chat", "vertex_ai"})
"""Providers whose models the price list names without a prefix."""


class Abilities:
    """Abilities of a model: by the settings, else by the price list."""

    def __init__(self, route: Route, options: ModelOptions) -> None:
        self._route = route
        self._options = options

    @cached_property
    def facts(self) -> ModelFacts:
        """Return the facts of the price list, with prices from the settings."""
        prices = self._options.input_price, self._options.output_price
        return self._listed if prices == (None, None) else _priced(self._listed, *prices)

    @cached_property
    def _listed(self) -> ModelFacts:
        """Return the price list's entry; an empty one if another server only uses the name."""
        if self._route.custom_base:
            return UNKNOWN
        bare = [self._route.model] if self._route.provider_name in _UNPREFIXED else []
        return PriceList().facts(self._route.full_name, *bare)

    @property
    def context_window(self) -> int | None:
        """Return the context window in tokens; None if unknown."""
        return self._options.context_window or self.facts.context_window

    @property
    def vision(self) -> bool:
        """Return True if the model can see pictures."""
        set_by_user = self._options.supports_vision
        return bool(self.facts.supports_vision) if set_by_user is None else set_by_user

    def sees(self, messages: Iterable[Message]) -> bool:
        """Return True if there are pictures and the model can see them; looks the model up only then."""
        return any(getattr(message, "images", ()) for message in messages) and self.vision

    def cost_usd(self, read: int, written: int, cached: int, stored: int) -> float | None:
        """Return the cost of a request, or None if the price is not known."""
        return self.facts.cost_usd(read, written, cached, stored)


def _priced(facts: ModelFacts, read: float | None, written: float | None) -> ModelFacts:
    """Return the facts with prices in USD per million tokens; cached tokens then have no other price."""
    if read is not None:
        facts = replace(facts, input_price=read / 1e6, cached_price=None, cache_write_price=None)
    return facts if written is None else replace(facts, output_price=written / 1e6)
