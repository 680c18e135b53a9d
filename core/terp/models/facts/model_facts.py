"""Facts about models: context windows, and prices and abilities from the list that litellm ships.

The list is read by its path: importing litellm takes seconds. One entry is cut out of the text, because
parsing all 3 MB of it takes 30 ms and one entry 2.
"""

import importlib.util
import json
from functools import cached_property
from pathlib import Path
from typing import Any

from terp.text.dataclasses import dataclass

# What a reply is given where nobody bounds it: a tenth, up to so many tokens.
_USUAL_SHARE, _USUAL_REPLY = 0.1, 4_000
# A compacted conversation has room to grow again.
_LEFT_OF_FULL = 0.5
_LIST = "model_prices_and_context_window_backup.json"


@dataclass(frozen=True, slots=True)
class Window:
    """The context window of a model.

    `tokens` limits a request with its reply, 0 if unknown; `reply` is the longest requested reply, 0 for the
    provider's default; `share` is the percentage that may be filled, 0 for no limit below the model's.
    `vision` is True if it sees pictures.
    """

    tokens: int = 0
    reply: int = 0
    share: int = 85
    vision: bool = True

    @property
    def most(self) -> int:
        """The longest request, in tokens, above which a conversation is compacted; 0 for any."""
        if not (self.tokens and self.share):
            return 0
        reply = self.reply or min(self.tokens * _USUAL_SHARE, _USUAL_REPLY)
        return max(1, round(self.tokens * self.share / 100 - min(reply, self.tokens / 2)))

    def goal(self, expected: int) -> float:
        """Return the tokens that a request of `expected` tokens is compacted to."""
        full = min(expected, self.most) if self.most else expected
        return full * _LEFT_OF_FULL


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts about one model; None for unknown ones. Prices are in USD a token."""

    provider: str = ""
    mode: str = ""
    context_window: int | None = None
    max_output: int | None = None
    supports_vision: bool | None = None
    input_price: float | None = None
    output_price: float | None = None
    cached_price: float | None = None
    cache_write_price: float | None = None

    def cost_usd(self, read: int, written: int, cached: int = 0, stored: int = 0) -> float | None:
        """Return the cost of a request, or None if the price is not known.

        Of the `read` tokens `cached` came from the provider's cache and `stored` were written to it.
        """
        if self.input_price is None or self.output_price is None:
            return None
        plain = max(0, read - cached - stored)
        cached_price = self.input_price if self.cached_price is None else self.cached_price
        stored_price = self.input_price if self.cache_write_price is None else self.cache_write_price
        return (
            plain * self.input_price
            + cached * cached_price
            + stored * stored_price
            + written * self.output_price
        )


UNKNOWN = ModelFacts()


class PriceList:
    """litellm's price list, read from its file at the first lookup."""

    def facts(self, *names: str) -> ModelFacts:
        """Return the facts about the first of `names` that the list has."""
        for name in names:
            if entry := self.entry(name):
                return _facts(entry)
        return UNKNOWN

    def entry(self, name: str) -> dict[str, Any] | None:
        """Return the list's own entry, or None."""
        text = self._text
        # Entries are the members of one object, four spaces deep.
        key = f"\n    {json.dumps(name)}: ".encode()
        start = text.find(key)
        if start < 0:
            return None
        start += len(key)
        end = text.find(b"\n    }", start)
        try:
            entry = json.loads(text[start : end + 6])
        except ValueError:
            return None
        return entry if isinstance(entry, dict) else None

    @cached_property
    def _text(self) -> bytes:
        path = bundled_path()
        try:
            return path.read_bytes() if path else b""
        except OSError:
            return b""


def bundled_path() -> Path | None:
    """Return the path of litellm's price list, without importing it."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).with_name(_LIST)


def _facts(entry: dict[str, Any]) -> ModelFacts:
    return ModelFacts(
        provider=str(entry.get("litellm_provider", "")),
        mode=str(entry.get("mode", "")),
        context_window=_whole(entry.get("max_input_tokens") or entry.get("max_tokens")),
        max_output=_whole(entry.get("max_output_tokens")),
        supports_vision=entry.get("supports_vision"),
        input_price=_price(entry.get("input_cost_per_token")),
        output_price=_price(entry.get("output_cost_per_token")),
        cached_price=_price(entry.get("cache_read_input_token_cost")),
        cache_write_price=_price(entry.get("cache_creation_input_token_cost")),
    )


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and value > 0 else None


def _price(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def list_price(model: str) -> ModelFacts:
    """Return the price list's facts about a model, by the name that users write."""
    return PriceList().facts(model, model.partition("/")[2])
