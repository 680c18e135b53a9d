"""What a session, a turn and a profile may cost: a call that would be too much is not made."""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from terp.errors import BudgetSpent
from terp.events import Event, Noticed, TurnFinished, UsageReported
from terp.events.messages import Assistant, Message, User
from terp.events.model import Chunk, Replied, Retrying, Usage
from terp.models.facts.model_facts import UNKNOWN, ModelFacts
from terp.session.cost.budget import Tally
from terp.session.cost.ledger import Ledger, LedgerAccount
from terp.session.resources import Limits
from terp.session.session import Session
from terp.testing import ScriptedModel, call, collect
from tests.core.sessions import of, open_session

# A dollar for what is sent, whatever its length.
DEAR = ModelFacts(input_price=1.0, output_price=0.0)
NOON = 1_795_348_800.0


def told(events: Sequence[Event]) -> tuple[str, str]:
    end = events[-1]
    assert isinstance(end, TurnFinished)
    return end.reason, f"{end.error} {end.remedy}"


def costing(*usd: float | None) -> ScriptedModel:
    """A model whose replies cost so much, each with a call but the last."""
    calls = [[call(str(number))] for number in range(len(usd) - 1)]
    replies: list[Any] = [
        [
            *parts,
            Usage(10, 5, 0, cost),
            Replied(Assistant("", tuple(parts)) if parts else Assistant("ok"), "stop"),
        ]
        for parts, cost in zip([*calls, []], usd, strict=True)
    ]
    return ScriptedModel(*replies)


def priced(session: Session, facts: ModelFacts) -> Session:
    session.resources.prices = lambda _: facts
    return session


async def test_a_call_that_would_go_past_the_budget_is_not_made(tmp_path: Path) -> None:
    model = ScriptedModel("never")
    session = priced(open_session(tmp_path, model, limits=Limits(max_budget_usd=5)), DEAR)
    events = await collect(session, "go")
    assert model.requests == []
    tokens = session.expected_tokens
    assert told(events) == (
        "max_budget",
        "Stopped: $0.00 of $5.00 is spent (max_budget), and the next request would cost about "
        f"${tokens}.00 or more. Raise --max-budget to continue.",
    )


async def test_what_was_cached_is_expected_to_be_cached_again_by_the_same_model(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel(), limits=Limits(max_budget_usd=1))
    priced(session, ModelFacts(input_price=1.0, output_price=0.0, cached_price=0.0))
    session.budget.note(UsageReported(600, 5, 500, 0.25, "scripted/model"))
    await session.budget.check("scripted/model", 500)
    with pytest.raises(BudgetSpent, match=r"about \$2\.00 or more"):
        await session.budget.check("scripted/model", 502)
    with pytest.raises(BudgetSpent, match=r"about \$500\.00 or more"):
        await session.budget.check("another/model", 500)


async def test_the_budget_that_is_reached_ends_the_turn(tmp_path: Path) -> None:
    model = costing(0.25, 0.25, 0.25)
    session = priced(open_session(tmp_path, model, limits=Limits(max_budget_usd=0.5)), UNKNOWN)
    events = await collect(session, "go")
    assert len(model.requests) == 2
    assert told(events) == (
        "max_budget",
        "Stopped: $0.5000 of $0.5000 is spent (max_budget). Raise --max-budget to continue.",
    )


async def test_a_turn_has_a_limit_of_its_own_and_the_next_begins_anew(tmp_path: Path) -> None:
    model = costing(0.25, 0.25, 0.25)
    session = priced(open_session(tmp_path, model, limits=Limits(max_turn_usd=0.5)), UNKNOWN)
    assert told(await collect(session, "go")) == (
        "max_budget",
        "Stopped: $0.5000 of $0.5000 is spent in this turn (max_turn_usd). "
        "Raise --max-turn-usd, or type 'go on' at the prompt.",
    )
    assert told(await collect(session, "go on")) == ("done", " ")
    assert session.spent_usd == 0.75


async def test_what_is_asked_between_turns_is_no_part_of_a_turn(tmp_path: Path) -> None:
    session = priced(open_session(tmp_path, costing(0.5), limits=Limits(max_turn_usd=0.5)), UNKNOWN)
    await collect(session, "go")
    assert (await session.answer_aside("and?")).text == "done"


async def test_a_summary_and_a_word_beside_count_and_are_held_to_the_budget(tmp_path: Path) -> None:
    model = ScriptedModel("ok", "ok", "We talked.", "beside")
    session = priced(open_session(tmp_path, model, limits=Limits(max_budget_usd=0.004)), UNKNOWN)
    await collect(session, "one")
    await collect(session, "two")
    await session.compact()
    await session.answer_aside("hm?")
    assert replace(session.budget.used, seconds=0.0) == Tally(4, 40, 20, 0, 0.004)
    with pytest.raises(BudgetSpent, match=r"\$0\.0040 of \$0\.0040 is spent \(max_budget\)"):
        await session.answer_aside("hm?")
    with pytest.raises(BudgetSpent):
        await session.compact()
    assert len(model.requests) == 4


async def test_without_a_price_no_limit_can_be_kept(tmp_path: Path) -> None:
    model = costing(None, None)
    session = priced(open_session(tmp_path, model, limits=Limits(max_turn_usd=5)), UNKNOWN)
    assert told(await collect(session, "go")) == (
        "error",
        "The cost of a request to scripted/model is not known, so max_turn_usd cannot be enforced. "
        "Begin a new session with input_price and output_price, or with a model whose price is known; "
        "or leave --max-turn-usd out.",
    )
    assert len(model.requests) == 1


async def test_a_reply_of_which_no_usage_is_told_was_not_for_nothing(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel([Replied(Assistant("ok"), "stop")]))
    [used] = of(UsageReported, await collect(session, "go"))
    assert (used.input_tokens, used.cost_usd, session.spent_usd) == (0, None, None)


def account(tmp_path: Path, profile: str = "work") -> LedgerAccount:
    return LedgerAccount(Ledger(tmp_path / "usage", lambda: NOON), profile, "s1")


async def test_sessions_of_a_profile_share_what_it_may_spend_in_a_month(tmp_path: Path) -> None:
    limits = Limits(max_month_usd=0.5)
    reasons = []
    for profile in ("work", "work", "play"):
        session = priced(open_session(tmp_path, costing(0.25, 0.25), limits=limits), UNKNOWN)
        session.resources.account = account(tmp_path, profile)
        reasons.append(told(await collect(session, "go")))
    done = ("done", " ")
    spent = (
        "max_budget",
        "Stopped: $0.5000 of $0.5000 is spent by the profile 'work' this month (max_month_usd). "
        "Raise --max-month-usd to continue; terp cost lists the cost by profile.",
    )
    assert reasons == [done, spent, done]


async def test_a_month_that_cannot_be_read_is_not_taken_for_one_in_which_nothing_was_spent(
    tmp_path: Path,
) -> None:
    (tmp_path / "usage" / "2026-11.jsonl").mkdir(parents=True)
    session = priced(open_session(tmp_path, ScriptedModel(), limits=Limits(max_month_usd=5)), UNKNOWN)
    session.resources.account = account(tmp_path)
    reason, error = told(await collect(session, "go"))
    assert reason == "error"
    assert error.startswith("The cost of this month cannot be read (")


async def test_that_nothing_can_be_noted_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "usage").write_text("no folder")
    session = open_session(tmp_path, costing(0.25, 0.25))
    session.resources.account = account(tmp_path)
    events = await collect(session, "go")
    assert told(events)[0] == "done"
    [notice] = of(Noticed, events)
    assert notice.text.startswith("The cost of this session is not recorded for the profile: ")


async def test_what_earlier_turns_said_is_expected_in_the_next_request(tmp_path: Path) -> None:
    model = ScriptedModel("ok", "never")
    cheap = ModelFacts(input_price=0.001, output_price=0.0)
    session = priced(open_session(tmp_path, model, limits=Limits(max_budget_usd=3)), cheap)
    assert told(await collect(session, "go"))[0] == "done"
    session.history = [User("word " * 9_000), Assistant("ok")]
    assert told(await collect(session, "and?"))[0] == "max_budget"


class Slow(ScriptedModel):
    """A model whose first reply is empty; it works on each of both for 20 ms."""

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        work()
        yield Usage(10, 0, 0)
        yield Retrying(1, "the model's reply was empty", 0.0)
        work()
        yield Usage(10, 1, 0)
        yield Replied(Assistant("ok"), "stop")


def work() -> None:
    began = time.monotonic()
    while time.monotonic() - began < 0.02:
        pass


async def test_of_a_reply_that_took_two_requests_no_second_is_counted_twice(tmp_path: Path) -> None:
    session = open_session(tmp_path, Slow())
    began = time.monotonic()
    events = await collect(session, "go")
    first, second = (used.seconds for used in of(UsageReported, events))
    assert 0.039 <= first + second <= time.monotonic() - began + 0.001
