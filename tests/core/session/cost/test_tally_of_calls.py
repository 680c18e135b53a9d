"""What calls have used, added up."""

import pytest

from terp.events import TextDelta, UsageReported
from terp.session.cost.budget import Tally, money, tallies_by_model, tally_of

DEAR = UsageReported(1_000, 20, 400, 0.5, "openai/a", 1.5)
CHEAP = UsageReported(10, 5, 0, 0.25, "openai/b", 0.25)
UNKNOWN = UsageReported(7, 3, 0, None, "mine/c", 0.5)


def test_calls_are_added_up_and_other_events_are_not() -> None:
    assert tally_of([DEAR, TextDelta("x"), CHEAP]) == Tally(2, 1_010, 25, 400, 0.75, 0, 1.75)


def test_one_unknown_price_makes_the_whole_cost_unknown_and_loses_nothing_of_the_known() -> None:
    assert tally_of([DEAR, CHEAP]).cost_usd == 0.75
    used = tally_of([DEAR, UNKNOWN])
    assert (used.cost_usd, used.known_usd, used.unpriced) == (None, 0.5, 1)


def test_models_have_their_own_sums_in_the_order_in_which_they_were_asked() -> None:
    sums = tallies_by_model([CHEAP, DEAR, TextDelta("x"), CHEAP])
    assert list(sums.items()) == [
        ("openai/b", Tally(2, 20, 10, 0, 0.5, 0, 0.5)),
        ("openai/a", Tally(1, 1_000, 20, 400, 0.5, 0, 1.5)),
    ]


@pytest.mark.parametrize(
    ("usd", "told"),
    [(0, "$0.00"), (0.00001, "less than $0.0001"), (0.0042, "$0.0042"), (0.5, "$0.5000"), (12.345, "$12.35")],
)
def test_an_amount_is_told_with_the_digits_that_matter(usd: float, told: str) -> None:
    assert money(usd) == told
