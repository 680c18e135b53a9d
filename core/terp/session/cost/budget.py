"""The cost of a session's model calls, and the limits on it."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from terp.errors import BudgetSpent, PriceUnknown
from terp.events import Event, Noticed, UsageReported
from terp.events.log import EventLog
from terp.text.dataclasses import dataclass

if TYPE_CHECKING:
    from terp.session.resources import Limits, SessionResources


@dataclass(frozen=True, slots=True)
class Tally:
    """The sum over `calls`: tokens, seconds of waiting for the model, and cost.

    `cached_tokens` are part of `input_tokens`. `unpriced` calls have no known price and are not in
    `known_usd`.
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
        """The cost; None if a call has no known price."""
        return None if self.unpriced else self.known_usd

    def plus(self, used: UsageReported) -> "Tally":
        """Return the sum with one more call."""
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
    """Return the sum of the calls among `events`."""
    tally = Tally()
    for event in events:
        if isinstance(event, UsageReported):
            tally = tally.plus(event)
    return tally


def tallies_by_model(events: Iterable[Event]) -> dict[str, Tally]:
    """Return the sum of each model's calls, in the order of their first calls."""
    tallies: dict[str, Tally] = {}
    for event in events:
        if isinstance(event, UsageReported):
            tallies[event.model] = tallies.get(event.model, Tally()).plus(event)
    return tallies


def money(usd: float) -> str:
    """Return an amount for display: `$0.0042`, `$1.20`."""
    return f"${usd:.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}" if usd >= 0.0001 else "less than $0.0001"


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit: its setting, the amount that may be spent, and the amount spent `where`."""

    setting: str
    most_usd: float
    spent_usd: float
    where: str
    unpriced: int
    remedy: str


class Budget:
    """Adds up the cost of a session's calls, and refuses a call that would exceed a limit.

    `used` is what the session used until now, including what was `used` before it was resumed. Limits,
    prices and the account come from `resources`.
    """

    def __init__(self, log: EventLog, resources: "SessionResources", used: Tally | None = None) -> None:
        self.used = used or Tally()
        self._log = log
        self._resources = resources
        self._turn: Tally | None = None
        self._last: UsageReported | None = None
        self._warned = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Count calls within the block as those of one turn."""
        self._turn = Tally()
        try:
            yield
        finally:
            self._turn = None

    def note(self, used: UsageReported) -> None:
        """Add the usage of a call, and write it to the ledger."""
        self.used, self._last = self.used.plus(used), used
        if self._turn is not None:
            self._turn = self._turn.plus(used)
        if self._resources.account is None:
            return
        try:
            self._resources.account.note(used)
        except OSError as error:
            if not self._warned:
                self._warned = True
                why = error.strerror or str(error)
                self._log.append(Noticed(f"The cost of this session is not recorded for the profile: {why}."))

    async def check(self, model: str, expected_tokens: int) -> None:
        """Return if a call with so many tokens stays within the limits; its reply may still exceed one.

        Raises:
            BudgetSpent: a limit is reached, or the request without its reply would exceed it.
            PriceUnknown: there is a limit, and an earlier call has no known price.
        """
        limits = self._resources.limits
        if not (limits.max_turn_usd or limits.max_budget_usd or limits.max_month_usd):
            return
        # Reads files.
        bounds, least_usd = await asyncio.to_thread(
            lambda: (list(self._bounds(limits)), self._least_usd(model, expected_tokens))
        )
        for bound in bounds:
            _check(bound, model, least_usd)

    def _least_usd(self, model: str, expected_tokens: int) -> float:
        """Return the least cost of a call: its input, with as many cached tokens as in the last one."""
        last = self._last
        cached = min(last.cached_tokens, expected_tokens) if last and last.model == model else 0
        return self._resources.prices(model).cost_usd(expected_tokens, 0, cached) or 0.0

    def _bounds(self, limits: "Limits") -> Iterator[Bound]:
        if limits.max_turn_usd and self._turn is not None:
            # A first request that costs more than the limit would be refused again.
            again = ", or type 'go on' at the prompt" if self._turn.calls else ""
            yield Bound(
                "max_turn_usd",
                limits.max_turn_usd,
                self._turn.known_usd,
                " in this turn",
                self._turn.unpriced,
                f"Raise --max-turn-usd{again}.",
            )
        if limits.max_budget_usd:
            yield Bound(
                "max_budget",
                limits.max_budget_usd,
                self.used.known_usd,
                "",
                self.used.unpriced,
                "Raise --max-budget to continue.",
            )
        if limits.max_month_usd:
            account = self._resources.account
            yield Bound(
                "max_month_usd",
                limits.max_month_usd,
                self._spent_in_month(),
                f" by the profile '{account.profile}' this month" if account else " this month",
                # Other sessions may have used models without a price, such as local ones.
                self.used.unpriced,
                "Raise --max-month-usd to continue; terp cost lists the cost by profile.",
            )

    def _spent_in_month(self) -> float:
        if self._resources.account is None:
            return self.used.known_usd
        try:
            return self._resources.account.spent_usd()
        except OSError as error:
            raise PriceUnknown(
                f"The cost of this month cannot be read ({error}), so max_month_usd cannot be enforced.",
                "Make the file readable, or leave --max-month-usd out.",
            ) from error


def _check(bound: Bound, model: str, least_usd: float) -> None:
    if bound.unpriced:
        flag = bound.setting.replace("_", "-")
        raise PriceUnknown(
            f"The cost of a request to {model} is not known, so {bound.setting} cannot be enforced.",
            "Begin a new session with input_price and output_price, or with a model whose price is known; "
            f"or leave --{flag} out.",
        )
    spent = f"{money(bound.spent_usd)} of {money(bound.most_usd)} is spent{bound.where} ({bound.setting})"
    if bound.spent_usd >= bound.most_usd:
        raise BudgetSpent(f"Stopped: {spent}.", bound.remedy)
    if bound.spent_usd + least_usd > bound.most_usd:
        raise BudgetSpent(
            f"Stopped: {spent}, and the next request would cost about {money(least_usd)} or more.",
            bound.remedy,
        )
