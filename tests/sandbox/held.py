"""A kernel that a given tier holds."""

import os
from contextlib import aclosing
from functools import cache

from terp.events.kernel import Kernel
from terp.events.outputs import Display, Error, RunEnded, Text
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.bubblewrap import find_bubblewrap
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.landlock import find_landlock
from terp.kernels.sandbox.policy import SandboxOptions
from terp.kernels.sandbox.tier import Tier
from terp.kernels.sandbox.tiers import failure_of
from tests.sandbox.world import World

TIERS = ("bubblewrap", "Landlock")


@cache
def tier_named(name: str) -> tuple[Tier | None, str]:
    """The tier, if it works here, or why it does not."""
    tier: Tier | None = find_bubblewrap(os.environ) if name == "bubblewrap" else find_landlock()
    if tier is None:
        return None, "it is not there"
    problem = failure_of(tier, network=False) or failure_of(tier, network=True)
    return (None, problem) if problem else (tier, "")


def held_kernels(world: World, tier: Tier | None, *, network: bool) -> LocalKernels:
    """Kernels in the world's project; without a tier nothing holds them."""
    found = [] if tier is None else [tier]
    confinement = Confinement(
        SandboxOptions("workspace", network=network), str(world.proj), world.environ, tiers=lambda *_: found
    )
    if not confinement.missing:
        # The test of the tier has left its record in the home directory.
        world.mend()
    return LocalKernels(str(world.proj), environ=world.environ, confinement=confinement)


async def printed_by(kernel: Kernel, code: str) -> str:
    """All that a run puts out, and how it ended."""
    told: list[str] = []
    async with aclosing(kernel.execute(code, timeout_s=60)) as items:
        async for item in items:
            match item:
                case Text(text=text):
                    told.append(text)
                case Error(name=name, value=value):
                    told.append(f"{name}: {value}")
                case Display(data=data):
                    told.append(str(data.get("text/plain", "")) + " ".join(data))
                case RunEnded(status=status, note=note):
                    told.append(f"\n[{status}] {note}")
                case _:
                    continue
    return "".join(told)
