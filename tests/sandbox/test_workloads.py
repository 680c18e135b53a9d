"""Honest code works in either tier, and without the network where it needs none."""

import pytest

from terp.kernels.jupyter.local import LocalKernels
from tests.sandbox.held import TIERS, printed_by
from tests.sandbox.workloads import CLOSED, WORKLOADS, Workload
from tests.sandbox.world import World

EACH_TIER = pytest.mark.parametrize("tier", TIERS, indirect=True, scope="package")


@EACH_TIER
@pytest.mark.parametrize("work", WORKLOADS, ids=lambda row: row.name)
async def test_honest_code_works(work: Workload, world: World, with_network: LocalKernels) -> None:
    code = work.code.replace("HOME_", str(world.home))
    assert work.prints in await printed_by(with_network.get(work.language), code)


@EACH_TIER
@pytest.mark.parametrize("work", [row for row in WORKLOADS if row.name in CLOSED], ids=lambda row: row.name)
async def test_honest_code_works_without_network(
    work: Workload, world: World, without_network: LocalKernels
) -> None:
    code = work.code.replace("HOME_", str(world.home))
    assert work.prints in await printed_by(without_network.get(work.language), code)
