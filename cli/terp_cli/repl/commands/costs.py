"""The command that tells what was spent."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from terp.errors import TerpError
from terp.events import Event, TurnStarted
from terp.models.facts.prices import ModelFacts
from terp.session.cost.ledger import tallies
from terp.session.cost.tally import Tally, money, tallies_by_model, tally_of
from terp_cli.repl.commands.rows import columns, counted, grouped
from terp_cli.repl.commands.talk import Talk

HEAD = ("requests", "sent", "cached", "received", "seconds", "cost")
_UNKNOWN = "The price of {} is not known. The settings input_price and output_price can give it."


async def cost(talk: Talk, _: str) -> None:
    """What the last turn, the session and this month's sessions of the profile have used."""
    events = [record.event for record in talk.session.log.since(0)]
    by_model = tallies_by_model(events)
    if not by_model:
        talk.say("Nothing was asked of a model yet.")
        return
    limits = talk.session.budget.limits()
    lines = [
        ("", *HEAD),
        ("turn", *cells(tally_of(_last_turn(events)), limits.max_turn_usd)),
        ("session", *cells(tally_of(events), limits.max_budget_usd)),
    ]
    if len(by_model) > 1:
        lines += [(f"  {model or 'not noted'}", *cells(used)) for model, used in by_model.items()]
    lines += await asyncio.to_thread(lambda: list(_of_profile(talk, limits.max_month_usd)))
    talk.show(columns(lines, talk.width, ("dim",), wraps=True))
    talk.say(*await asyncio.to_thread(lambda: list(_notes(by_model, talk.session.budget.facts))))


def cells(used: Tally, most_usd: float = 0.0) -> tuple[str, ...]:
    """What calls used, below `HEAD`, and what they may cost if that is limited."""
    numbers = (used.calls, used.input_tokens, used.cached_tokens, used.output_tokens)
    return (*map(grouped, numbers), f"{used.seconds:.1f}", price(used, most_usd))


def price(used: Tally, most_usd: float = 0.0) -> str:
    """What they have cost, as far as it is known; what is not known is never nothing."""
    most = f" of {money(most_usd)}" if most_usd else ""
    if not used.unpriced:
        return money(used.known_usd) + most
    if used.unpriced == used.calls:
        return f"not known{most}"
    return f"{money(used.known_usd)}{most}, and {counted(used.unpriced, 'request')} not known"


def _last_turn(events: Sequence[Event]) -> Sequence[Event]:
    starts = [at for at, event in enumerate(events) if isinstance(event, TurnStarted) and not event.goes_on]
    return events[starts[-1] :] if starts else events


def _of_profile(talk: Talk, most_usd: float) -> Iterator[tuple[str, ...]]:
    account = talk.session.budget.account
    if account is None:
        return
    ledger = account.ledger
    try:
        used = tallies(ledger.entries(ledger.month), lambda entry: (entry.profile,))
    except OSError as error:
        raise TerpError(f"What was spent this month cannot be read: {error}.") from error
    yield (f"{account.profile}, {ledger.month}", *cells(used.get((account.profile,), Tally()), most_usd))


def _notes(by_model: dict[str, Tally], facts: Callable[[str], ModelFacts]) -> Iterator[str]:
    saved = sum(_saved_usd(used, facts(model)) for model, used in by_model.items())
    if saved > 0:
        yield f"The provider's cache has saved about {money(saved)} of what the session would have cost."
    unknown = [model for model, used in by_model.items() if used.unpriced and model]
    if unknown:
        yield _UNKNOWN.format(", ".join(unknown))


def _saved_usd(used: Tally, facts: ModelFacts) -> float:
    """What tokens from the cache would have cost more without it."""
    if facts.input_price is None or facts.cached_price is None:
        return 0.0
    return used.cached_tokens * (facts.input_price - facts.cached_price)
