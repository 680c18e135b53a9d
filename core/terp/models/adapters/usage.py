"""What a request used, from the many ways in which providers tell it."""

from collections.abc import Callable, Mapping
from typing import Any

from terp.events.model import Usage

Price = Callable[[int, int, int, int], float | None]
"""The cost in USD of (input, output, cached, cache-written) tokens, or None when it is not known."""

_INPUT = ("prompt_tokens", "input_tokens")
_OUTPUT = ("completion_tokens", "output_tokens")
# xAI's unit of account: 10¹⁰ ticks are a dollar.
_TICKS_PER_USD = 10**10


def tells(usage: Mapping[str, Any]) -> bool:
    """Whether anything was counted: some servers send zeros with every chunk and the truth with one."""
    return bool(_count(usage, *_INPUT) or _count(usage, *_OUTPUT))


def used(usage: Mapping[str, Any], price: Price) -> Usage:
    """The tokens, and the cost: as the provider tells it, else by `price`."""
    read, written = _count(usage, *_INPUT), _count(usage, *_OUTPUT)
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    cached = _count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens", "cached_tokens")
    stored = _count(usage, "cache_creation_input_tokens") or _count(details, "cache_write_tokens")
    if cached > read:
        # Azure counts what Grok had cached beside the input; others count it in.
        read += cached
    thought = _count(usage.get("completion_tokens_details") or {}, "reasoning_tokens")
    thought = thought or _count(usage, "reasoning_tokens")
    if thought and _count(usage, "total_tokens") == read + written + thought:
        # xAI and Gemini count reasoning beside the output, and bill it as output; others count it in.
        written += thought
    told = _told_cost(usage)
    return Usage(read, written, cached, price(read, written, cached, stored) if told is None else told)


def _told_cost(usage: Mapping[str, Any]) -> float | None:
    cost = usage.get("cost")
    if isinstance(cost, Mapping):
        cost = cost.get("total_cost")
    if cost is None and (ticks := _count(usage, "cost_in_usd_ticks")):
        return ticks / _TICKS_PER_USD
    return float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _count(counts: Mapping[str, Any], *names: str) -> int:
    for name in names:
        value = counts.get(name)
        if isinstance(value, int):
            return value
    return 0
