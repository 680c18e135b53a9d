"""A program of its own: its held kernel leaves a process behind, and then it waits to be killed."""

import asyncio
import os
import sys

from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.policy import SandboxOptions
from tests.sandbox.held import printed_by, tier_named


async def main(tier: str, cwd: str, seconds: str) -> None:
    found, _ = tier_named(tier)
    assert found is not None
    confinement = Confinement(SandboxOptions("workspace"), cwd, os.environ, tiers=lambda *_: [found])
    kernel = LocalKernels(cwd, confinement=confinement).get("python")
    left = f"import subprocess; subprocess.Popen(['setsid', 'sleep', '{seconds}']); print('left')"
    sys.stdout.write(await printed_by(kernel, left))
    sys.stdout.flush()
    await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
