"""What the command says that tells of money."""

from pathlib import Path

from terp.events import TurnStarted, UsageReported
from terp.models.facts.prices import ModelFacts
from terp.session.cost.ledger import Account, Ledger
from terp.session.limits import Limits
from tests.cli.repl.commands.talking import Noted

NOON = 1_795_348_800.0
CACHED = UsageReported(12_000, 300, 10_000, 0.0213, "openai/gpt-4o", 4.5)
UNKNOWN = UsageReported(1_300, 20, 0, None, "mine/llama", 0.25)


async def test_nothing_is_told_of_what_was_not_asked(tmp_path: Path) -> None:
    assert await Noted(tmp_path).does("/cost") == ["Nothing was asked of a model yet."]


async def test_the_last_turn_is_told_beside_the_session_and_the_cache(tmp_path: Path) -> None:
    talk = Noted(tmp_path, TurnStarted("a"), CACHED, TurnStarted("b"), CACHED)
    assert await talk.does("/cost") == [
        "         requests  sent    cached  received  seconds  cost",
        "turn     1         12 000  10 000  300       4.5      $0.0213",
        "session  2         24 000  20 000  600       9.0      $0.0426",
        "The provider's cache has saved about $0.0250 of what the session would have cost.",
    ]


async def test_several_models_have_a_row_each_and_no_unknown_price_is_nothing(tmp_path: Path) -> None:
    talk = Noted(tmp_path, TurnStarted("a"), CACHED, UNKNOWN)
    talk.session.budget.facts = lambda _: ModelFacts()
    assert await talk.does("/cost") == [
        "                 requests  sent    cached  received  seconds  cost",
        "turn             2         13 300  10 000  320       4.8      $0.0213, and 1",
        "                                                              request not known",
        "session          2         13 300  10 000  320       4.8      $0.0213, and 1",
        "                                                              request not known",
        "  openai/gpt-4o  1         12 000  10 000  300       4.5      $0.0213",
        "  mine/llama     1         1 300   0       20        0.2      not known",
        "The price of mine/llama is not known. The settings input_price and output_price can give it.",
    ]


async def test_a_turn_that_goes_on_is_one_with_what_came_before(tmp_path: Path) -> None:
    talk = Noted(tmp_path, TurnStarted("a"), CACHED, TurnStarted("a", goes_on=True), CACHED)
    assert (await talk.does("/cost"))[1].split()[:2] == ["turn", "2"]


async def test_limits_and_the_month_of_the_profile_are_told(tmp_path: Path) -> None:
    talk = Noted(tmp_path, TurnStarted("a"), CACHED)
    ledger = Ledger(tmp_path / "usage", lambda: NOON)
    for profile, session in (("work", "earlier"), ("work", "s1"), ("play", "s2")):
        ledger.add(profile, session, CACHED)
    talk.session.budget.account = Account(ledger, "work", "s1")
    talk.session.budget.limits = lambda: Limits(max_turn_usd=0.5, max_budget_usd=1, max_month_usd=30)
    _, turn, session, month, _ = await talk.does("/cost")
    assert turn.endswith("$0.0213 of $0.5000")
    assert session.endswith("$0.0213 of $1.00")
    assert month == "work, 2026-11  2         24 000  20 000  600       9.0      $0.0426 of $30.00"


async def test_a_limit_stands_beside_what_counts_for_it(tmp_path: Path) -> None:
    talk = Noted(tmp_path, TurnStarted("a"), CACHED, UNKNOWN)
    talk.session.budget.limits = lambda: Limits(max_budget_usd=1)
    said = " ".join(" ".join(await talk.does("/cost")).split())
    assert "$0.0213 of $1.00, and 1 request not known" in said
