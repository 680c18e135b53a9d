"""A held kernel is a kernel as any other: it is interrupted, dies and ends in the same way."""

import asyncio
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

import pytest

from terp.events.kernel import Kernel
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.policy import ResourceLimits, SandboxOptions
from tests.sandbox.held import TIERS, printed_by, tier_named
from tests.sandbox.world import World

EACH_TIER = pytest.mark.parametrize("tier", TIERS, indirect=True, scope="package")
GONE_S = 2.0


async def interrupted(kernel: Kernel, code: str) -> str:
    """What a run prints that is interrupted when its code has begun."""
    running = asyncio.create_task(printed_by(kernel, f"open('begun', 'w').close()\n{code}"))
    begun = Path(kernel.cwd, "begun")
    while not begun.exists():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    begun.unlink()
    await kernel.interrupt()
    return await running


@EACH_TIER
@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(60)",
        "while True: pass",
        "import subprocess; subprocess.run(['sleep', '60'])",
        "import asyncio; await asyncio.sleep(60)",
    ],
)
async def test_an_interrupt_stops_the_code_and_keeps_its_variables(
    world: World, with_network: LocalKernels, code: str
) -> None:
    kernel = with_network.get("python")
    await printed_by(kernel, "kept = 5")
    assert "[interrupted]" in await interrupted(kernel, code)
    assert await printed_by(kernel, "print(kept)") == "5\n\n[ok] "


@EACH_TIER
async def test_the_signal_that_ended_a_kernel_is_told(world: World, with_network: LocalKernels) -> None:
    crashing = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    assert "[died] The kernel ended by signal SIGSEGV." in await printed_by(
        with_network.get("python"), crashing
    )


@EACH_TIER
async def test_the_tier_is_told(tier: str, with_network: LocalKernels, without_network: LocalKernels) -> None:
    tiers = (with_network.get("python").tier, without_network.get("shell").tier)
    assert tiers == (tier, f"{tier} without network")


@EACH_TIER
async def test_what_needs_ports_is_refused_in_words_without_the_network(
    tier: str, without_network: LocalKernels
) -> None:
    languages = without_network.languages
    assert "typescript" not in languages


@EACH_TIER
async def test_memory_and_files_are_limited(tier: str, tmp_path: Path) -> None:
    wish = SandboxOptions("workspace", limits=ResourceLimits(memory_mb=4_000, file_mb=1))
    found = tier_named(tier)[0]
    assert found is not None
    confinement = Confinement(wish, str(tmp_path), os.environ, tiers=lambda *_: [found])
    kernels = LocalKernels(str(tmp_path), confinement=confinement)
    try:
        kernel = kernels.get("python")
        assert "MemoryError" in await printed_by(kernel, "bytearray(8_000_000_000)")
        assert "File too large" in await printed_by(kernel, "open('big', 'wb').write(bytes(2_000_000))")
        assert await printed_by(kernel, "print(1)") == "1\n\n[ok] "
    finally:
        await kernels.aclose()


@EACH_TIER
async def test_temporary_files_are_there_for_every_kernel_and_outlive_a_new_start(
    world: World, with_network: LocalKernels
) -> None:
    python, shell = with_network.get("python"), with_network.get("shell")
    await printed_by(
        python, "import os; print('kept', file=open(os.environ['TMPDIR'] + '/left', 'w'), flush=True)"
    )
    await python.restart()
    seen = [
        await printed_by(python, "import os; print(open(os.environ['TMPDIR'] + '/left').read(), end='')"),
        await printed_by(shell, 'cat "$TMPDIR/left"'),
    ]
    assert [one.splitlines()[0] for one in seen] == ["kept", "kept"]


@EACH_TIER
async def test_nothing_is_left_when_terp_is_killed(tier: str, tmp_path: Path) -> None:
    seconds = f"60{secrets.randbelow(10**9):09}"
    program = Path(__file__).with_name("left_behind.py")
    terp = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, str(program), tier, str(tmp_path), seconds],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert terp.stdout is not None
    assert (await asyncio.to_thread(terp.stdout.readline)) == b"left\n"
    terp.kill()
    terp.wait()
    terp.stdout.close()
    killed = time.monotonic()
    while left := processes_with(seconds):
        assert time.monotonic() < killed + GONE_S, left
        await asyncio.sleep(0.02)


def processes_with(word: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found
