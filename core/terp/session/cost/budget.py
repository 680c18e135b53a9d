"""What the calls of a session's model have cost, and whether one more may be made."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from terp.errors import BudgetSpent, PriceUnknown
from terp.events import Event, Noticed, UsageReported
from terp.models.facts.prices import ModelFacts, PriceList
from terp.session.cost.tally import Tally, money
from terp.session.limits import Limits

if TYPE_CHECKING:
    # Few sessions that a program puts together by hand have one.
    from terp.session.cost.ledger import Account


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit, by the name of its setting: what may be spent, and what is spent `where`."""

    setting: str
    most_usd: float
    spent_usd: float
    where: str
    unpriced: int
    remedy: str


def list_price(model: str) -> ModelFacts:
    """What the price list knows of a model, by the name that a person uses for it."""
    return PriceList().facts(model, model.partition("/")[2])


class Budget:
    """Adds up all calls of a session, and refuses one that would go past a limit.

    `used` is what the session used until now, also before it was resumed, and `limits` gives what it may
    cost. `account` is where calls are noted for the profile, if they are; `facts` gives the prices of a model
    by its name. `tell` is given what a person must know.
    """

    def __init__(self, tell: Callable[[Event], object]) -> None:
        self.used = Tally()
        self.limits: Callable[[], Limits] = Limits
        self.account: Account | None = None
        self.facts: Callable[[str], ModelFacts] = list_price
        self._tell = tell
        self._turn: Tally | None = None
        self._last: UsageReported | None = None
        self._told = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Calls within the block are those of one turn."""
        self._turn = Tally()
        try:
            yield
        finally:
            self._turn = None

    def note(self, used: UsageReported) -> None:
        """A call was made."""
        self.used, self._last = self.used.plus(used), used
        if self._turn is not None:
            self._turn = self._turn.plus(used)
        if self.account is None:
            return
        try:
            self.account.note(used)
        except OSError as error:
            if not self._told:
                self._told = True
                why = error.strerror or str(error)
                self._tell(Noticed(f"What this session uses is not noted for the profile: {why}."))

    async def check(self, model: str, expected_tokens: int) -> None:
        """Return when a call with so many tokens can be paid for; its reply may still go past a limit.

        Raises:
            BudgetSpent: a limit is reached, or would be passed by what is sent alone.
            PriceUnknown: there is a limit, and the price of an earlier call is not known.
        """
        limits = self.limits()
        if not (limits.max_turn_usd or limits.max_budget_usd or limits.max_month_usd):
            return
        # Reads files.
        bounds, least_usd = await asyncio.to_thread(
            lambda: (list(self._bounds(limits)), self._least_usd(model, expected_tokens))
        )
        for bound in bounds:
            _check(bound, model, least_usd)

    def _least_usd(self, model: str, expected_tokens: int) -> float:
        """What a call costs at least: what is sent, with as much of it cached as in the last one."""
        last = self._last
        cached = min(last.cached_tokens, expected_tokens) if last and last.model == model else 0
        return self.facts(model).cost_usd(expected_tokens, 0, cached) or 0.0

    def _bounds(self, limits: Limits) -> Iterator[Bound]:
        if limits.max_turn_usd and self._turn is not None:
            # A request that alone costs more would be refused again.
            again = ", or say 'go on' at the prompt" if self._turn.calls else ""
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
                "Raise --max-budget to go on.",
            )
        if limits.max_month_usd:
            yield Bound(
                "max_month_usd",
                limits.max_month_usd,
                self._spent_in_month(),
                f" by the profile '{self.account.profile}' this month" if self.account else " this month",
                # Other sessions may have used models without a price, such as local ones.
                self.used.unpriced,
                "Raise --max-month-usd to go on; terp cost tells what it was spent on.",
            )

    def _spent_in_month(self) -> float:
        if self.account is None:
            return self.used.known_usd
        try:
            return self.account.spent_usd()
        except OSError as error:
            raise PriceUnknown(
                f"What was spent this month cannot be read ({error}), so max_month_usd cannot be kept.",
                "Make it readable, or leave --max-month-usd out.",
            ) from error


def _check(bound: Bound, model: str, least_usd: float) -> None:
    if bound.unpriced:
        flag = bound.setting.replace("_", "-")
        raise PriceUnknown(
            f"The cost of a request to {model} is not known, so {bound.setting} cannot be kept.",
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
