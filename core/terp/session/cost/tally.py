"""What calls of a model have used, added up."""

from collections.abc import Iterable
from dataclasses import dataclass

from terp.events import Event, UsageReported


@dataclass(frozen=True, slots=True)
class Tally:
    """The sum over `calls`: tokens, seconds of waiting for the model, and what is known of the cost.

    `cached_tokens` are part of `input_tokens`. The price of `unpriced` calls is not known, and nothing of
    them is in `known_usd`.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    known_usd: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0

    @property
    def cost_usd(self) -> float | None:
        """What they have cost; None when the price of one is not known."""
        return None if self.unpriced else self.known_usd

    def plus(self, used: UsageReported) -> "Tally":
        """With one call more."""
        return Tally(
            self.calls + 1,
            self.input_tokens + used.input_tokens,
            self.output_tokens + used.output_tokens,
            self.cached_tokens + used.cached_tokens,
            self.known_usd + (used.cost_usd or 0.0),
            self.unpriced + (used.cost_usd is None),
            round(self.seconds + used.seconds, 3),
        )


def tally_of(events: Iterable[Event]) -> Tally:
    """What the calls among `events` have used."""
    tally = Tally()
    for event in events:
        if isinstance(event, UsageReported):
            tally = tally.plus(event)
    return tally


def tallies_by_model(events: Iterable[Event]) -> dict[str, Tally]:
    """The same for each model, in the order in which they were first asked."""
    tallies: dict[str, Tally] = {}
    for event in events:
        if isinstance(event, UsageReported):
            tallies[event.model] = tallies.get(event.model, Tally()).plus(event)
    return tallies


def money(usd: float) -> str:
    """An amount as people read it: `$0.0042`, `$1.20`."""
    return f"${usd:.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}" if usd >= 0.0001 else "less than $0.0001"
