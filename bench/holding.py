"""Calls whose effects are held, beside the same calls in the same sandbox, untouched; medians of one run."""

import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager

from bench.kernel import in_turns
from bench.measure import Row, show
from terp.events.outputs import Text
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.effects import effects_of
from terp.kernels.sandbox.policy import SandboxOptions
from terp.kernels.sandbox.tier import Tier
from terp.kernels.sandbox.tiers import failure_of, failure_to_hold, tiers_here

# In µs, and the seconds of 10,000 creations; in memory, where untouched calls take least.
CALLS = """
import json, os, shutil, socket, statistics, time
where = f"/dev/shm/terp-bench-{os.getpid()}"
os.mkdir(where); os.chdir(where)
server = socket.create_server(("127.0.0.1", 0), backlog=4096)
def create(n): os.close(os.open(f"f{n}", os.O_CREAT | os.O_WRONLY, 0o644))
def rename(n): os.rename(f"f{n}", f"g{n}")
def unlink(n): os.unlink(f"g{n}")
def read(n): os.close(os.open(where, os.O_RDONLY))
def connect(n): socket.create_connection(server.getsockname()).close(); server.accept()[0].close()
def median(call, times):
    taken = []
    for n in range(times):
        began = time.perf_counter(); call(n); taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1e6
found = {call.__name__: median(call, 3000) for call in (create, rename, unlink, read)}
found["connect"] = median(connect, 500)
began = time.perf_counter()
for n in range(10000): create(n)
found["creations"] = time.perf_counter() - began
os.chdir("/"); shutil.rmtree(where); server.close()
print(json.dumps(found))
"""
# In µs of the held call; of creations and the start what holding adds.
TARGETS = {"create": 110.0, "unlink": 35.0}
MORE_CREATIONS_S, MORE_START_MS = 1.6, 40.0


@asynccontextmanager
async def kernels_in(folder: str, tier: Tier, *, hold: bool) -> AsyncIterator[LocalKernels]:
    """Kernels in the tier; tried before, so that starting them is all that takes time."""
    options = SandboxOptions("workspace", hold=hold)
    confinement = Confinement(options, folder, os.environ, tiers=lambda *_: [tier])
    confinement.now()
    kernels = LocalKernels(folder, confinement=confinement)
    try:
        yield kernels
    finally:
        await kernels.aclose()


async def calls(folder: str, tier: Tier, *, hold: bool) -> Mapping[str, float]:
    async with kernels_in(folder, tier, hold=hold) as kernels:
        kernel = kernels.get("python")
        await kernel.start()
        if held := effects_of(kernel):
            held.grant((), free=True)
        printed = ""
        async with aclosing(kernel.execute(CALLS)) as items:
            async for item in items:
                printed += item.text if isinstance(item, Text) else ""
        found: Mapping[str, float] = json.loads(printed)
        return found


async def start(folder: str, tier: Tier, *, hold: bool) -> float:
    began = time.perf_counter()
    async with kernels_in(folder, tier, hold=hold) as kernels:
        await kernels.get("python").start()
        return time.perf_counter() - began


async def compare(folder: str, tier: Tier, starts: int) -> list[Row]:
    plain = await calls(folder, tier, hold=False)
    held = await calls(folder, tier, hold=True)
    started = await in_turns(
        starts,
        {
            "plain": lambda: start(folder, tier, hold=False),
            "held": lambda: start(folder, tier, hold=True),
        },
    )
    names = ("create", "unlink", "rename", "connect")
    more_ms = 1e3 * (started["held"] - started["plain"])
    return [
        *(
            Row(
                f"{name} ({tier.name})",
                held[name],
                "µs",
                TARGETS.get(name),
                f"{plain[name]:.1f} µs untouched",
            )
            for name in names
        ),
        Row(f"open to read ({tier.name})", held["read"] / plain["read"], "× untouched", 1.1),
        Row(
            f"10,000 files ({tier.name})", held["creations"] - plain["creations"], "s more", MORE_CREATIONS_S
        ),
        Row(f"start ({tier.name})", more_ms, "ms more", MORE_START_MS),
    ]


def rows(starts: int = 9) -> Iterator[Row]:
    found = [tier for tier in tiers_here(SandboxOptions(), os.environ) if not failure_of(tier, network=True)]
    for tier in found:
        if failure_to_hold(tier):
            continue
        # Not below /tmp, which a sandbox may have for itself.
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            yield from asyncio.run(compare(folder, tier, starts))


if __name__ == "__main__":
    show(str(__doc__), rows())
