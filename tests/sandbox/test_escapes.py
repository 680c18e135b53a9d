"""No way out of the table leads out, by either tier; Landlock's gaps are those that are known."""

from collections.abc import AsyncGenerator, Mapping

import pytest

from terp.events.kernel import Kernel
from terp.kernels.jupyter.local import LocalKernels
from tests.sandbox.escapes import ESCAPES, Escape
from tests.sandbox.held import TIERS, held_kernels, printed_by
from tests.sandbox.world import World

EACH_TIER = pytest.mark.parametrize("tier", TIERS, indirect=True, scope="package")
ROWS = pytest.mark.parametrize(
    "escape", ESCAPES, ids=lambda row: f"{row.name}{'' if row.network else ' (closed)'}"
)


def filled(code: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        code = code.replace(name, value)
    return code


@EACH_TIER
@ROWS
async def test_no_way_leads_out(
    tier: str, world: World, escape: Escape, with_network: LocalKernels, without_network: LocalKernels
) -> None:
    kernels = with_network if escape.network else without_network
    printed = await printed_by(kernels.get("python"), filled(escape.code, world.names()))
    damage = world.damage(printed)
    if tier == "Landlock" and escape.gap:
        world.mend()
        assert damage, f"closed by now: {escape.gap}"
    else:
        assert (damage, printed if damage else "") == ("", "")


@pytest.fixture(scope="module")
async def unheld() -> AsyncGenerator[Kernel, None]:
    world = World()
    kernels = held_kernels(world, None, network=True)
    yield kernels.get("python")
    await kernels.aclose()
    world.close()


@pytest.mark.parametrize("escape", [row for row in ESCAPES if row.sure], ids=lambda row: row.name)
async def test_each_way_leads_out_where_nothing_holds_the_code(unheld: Kernel, escape: Escape) -> None:
    world = World()
    try:
        code = filled(f"import os; os.chdir('PROJ_')\n{escape.code}", world.names())
        printed = await printed_by(unheld, code)
        assert world.damage(printed), printed
    finally:
        world.close()
