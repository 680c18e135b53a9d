"""Kernels of Python in each tier of the sandbox that works here, beside one that nothing holds."""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping

from bench.kernel import in_turns, with_terp
from bench.measure import Row, ratio, show
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.policy import SandboxOptions
from terp.kernels.sandbox.tier import NONE, Tier
from terp.kernels.sandbox.tiers import failure_of, tiers_here


def cases(folder: str) -> Mapping[str, Confinement]:
    """What confines, by name: nothing, and each tier that works here, which was tried by then."""
    tiers = [tier for tier in tiers_here(SandboxOptions(), os.environ) if not failure_of(tier, network=True)]
    return {NONE: Confinement(SandboxOptions(), folder, os.environ)} | {
        tier.name: _held(folder, tier) for tier in tiers
    }


def _held(folder: str, tier: Tier) -> Confinement:
    confinement = Confinement(SandboxOptions("workspace"), folder, os.environ, tiers=lambda *_: [tier])
    confinement.now()
    return confinement


def start_of(folder: str, confinement: Confinement) -> Callable[[], Awaitable[float]]:
    """Seconds until a new kernel is ready."""

    async def start() -> float:
        kernels = LocalKernels(folder, confinement=confinement)
        began = time.perf_counter()
        await kernels.get("python").start()
        seconds = time.perf_counter() - began
        await kernels.aclose()
        return seconds

    return start


def run_in(kernels: LocalKernels) -> Callable[[], Awaitable[float]]:
    """Seconds of a short run."""
    return lambda: with_terp(kernels.get("python"), "1 + 1")


async def compare(folder: str, starts: int, rounds: int) -> list[Row]:
    confined = cases(folder)
    start = await in_turns(starts, {name: start_of(folder, one) for name, one in confined.items()})
    kernels = {name: LocalKernels(folder, confinement=one) for name, one in confined.items()}
    run = await in_turns(rounds, {name: run_in(one) for name, one in kernels.items()})
    for one in kernels.values():
        await one.aclose()
    return [
        ratio(f"{what} ({name})", NONE, taken[name], taken[NONE], 1.25)
        for name in confined
        if name != NONE
        for what, taken in (("start", start), ("1 + 1", run))
    ]


def rows(starts: int = 9, rounds: int = 200) -> Iterator[Row]:
    # Not below /tmp, which a sandbox may have for itself.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield from asyncio.run(compare(folder, starts, rounds))


if __name__ == "__main__":
    show(str(__doc__), rows())
