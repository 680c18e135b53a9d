"""Ordinary sessions are done, with few questions, and no effect happens that none was about."""

import pytest
from bench.attention import FEWER, run_all, unasked

from tests.effects.driver import TIERS, holding
from tests.faults.figures import Figure

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1800)]


def test_ordinary_sessions_ask_less_and_nothing_else_happens(figure: Figure) -> None:
    if not any(holding(name)[0] for name in TIERS):
        pytest.skip("effects cannot be held here")
    seen = run_all("effect", "a")
    cells, asked = sum(len(one.script.cells) for one in seen), sum(len(one.user.asked) for one in seen)
    figure(f"{cells} cells of {len(seen)} sessions: {asked} questions")
    assert [what for one in seen for why, what in unasked(one) if why == "other"] == []
    assert asked * FEWER <= cells
