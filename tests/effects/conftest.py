from collections.abc import Iterator

import pytest

from terp.kernels.sandbox.tier import Tier
from tests.effects.driver import TIERS, Bench, holding
from tests.faults.conftest import figure

__all__ = ["figure"]


@pytest.fixture(scope="module", params=TIERS)
def tier(request: pytest.FixtureRequest) -> Tier:
    found, why = holding(request.param)
    if found is None:
        pytest.skip(f"effects cannot be held by {request.param} here: {why}")
    return found


@pytest.fixture
def bench(tier: Tier) -> Iterator[Bench]:
    bench = Bench(tier, protected=("protected",))
    yield bench
    bench.close()
