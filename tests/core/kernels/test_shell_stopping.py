"""How cells of the shell are stopped, and what ends with it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import InputRequest
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.running import PATIENCE_S, interrupted_at, ran, ran_with

ROOT = Path(__file__).parents[3]
DEAF = """
import signal, time
for one in (2, {}):
    signal.signal(one, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(60)
"""

TERP = """
import asyncio
from terp.kernels.jupyter.local import LocalKernels
async def main():
    code = "sleep 600 & echo $!; setsid sleep 600 & echo $! $$; sleep 600"
    async for item in LocalKernels().get("shell").execute(code):
        print(getattr(item, "text", ""), end="", flush=True)
asyncio.run(main())
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("sh -c 'echo begun; exec sleep 60'; echo not this", id="program"),
        pytest.param("echo begun; while :; do :; done", id="loop"),
        pytest.param("echo begun; while :; do sleep 0.05; done", id="loop-of-programs"),
        pytest.param("sh -c 'echo begun; exec sleep 60' | cat; echo not this", id="pipeline"),
        pytest.param("f() { (sh -c 'echo begun; exec sleep 60'); echo not this; }; f", id="function"),
        pytest.param("echo begun; yes", id="flood"),
    ],
)
async def test_an_interrupt_ends_the_cell_and_keeps_the_state(shell: Kernel, code: str) -> None:
    await ran(shell, "kept=1")
    generation = shell.generation
    run = await interrupted_at(shell, code, "begun")
    assert (run.ended.status, run.error, "not this" in run.stdout) == (
        "interrupted",
        "KeyboardInterrupt",
        False,
    )
    assert (await ran(shell, "echo $kept")).stdout == "1\n"
    assert shell.generation == generation


async def test_the_status_of_what_was_interrupted_is_told_to_the_next_cell(shell: Kernel) -> None:
    await interrupted_at(shell, "echo begun; while :; do :; done", "begun")
    assert (await ran(shell, "echo $?")).stdout == "130\n"


@pytest.mark.parametrize("deaf_for", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM-too"])
async def test_a_program_that_ignores_signals_is_ended_and_the_state_kept(
    shell: Kernel, deaf_for: int
) -> None:
    await ran(shell, "kept=1")
    run = await interrupted_at(shell, f"{sys.executable} -c '{DEAF.format(int(deaf_for))}'", "deaf")
    assert (run.ended.status, run.error) == ("interrupted", "KeyboardInterrupt")
    assert (await ran(shell, "echo $kept")).stdout == "1\n"


async def test_an_interrupt_ends_a_question(shell: Kernel) -> None:
    await ran(shell, "kept=1")
    stopping: asyncio.Task[None] | None = None
    async for item in shell.execute("read -p 'name? ' name; echo not this"):
        if isinstance(item, InputRequest):
            stopping = asyncio.create_task(shell.interrupt())
    assert stopping is not None
    await stopping
    assert (await ran_with(shell, "read x; echo $kept $x", "typed")).stdout == "1 typed\n"


async def test_an_interrupt_leaves_the_jobs_of_earlier_cells_alone(shell: Kernel) -> None:
    await ran(shell, "sleep 50 & job=$!")
    await interrupted_at(shell, "echo begun; sleep 60", "begun")
    assert (await ran(shell, "kill $job && echo lived")).stdout == "lived\n"


async def test_a_cell_that_takes_too_long_is_stopped(shell: Kernel) -> None:
    run = await ran(shell, "sleep 60", timeout_s=0.3)
    assert (run.ended.status, "longest" in run.ended.note) == ("timeout", True)


async def test_jobs_end_with_the_session(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    run = await ran(kernels.get("shell"), "sleep 600 & echo $!; (setsid sleep 600 & echo $!)")
    pids = [int(word) for word in run.stdout.split()]
    await kernels.aclose()
    assert await asyncio.to_thread(_left, pids) == []


def test_nothing_is_left_when_terp_is_killed(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "core")}
    with subprocess.Popen(
        [sys.executable, "-c", TERP], env=environ, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as terp:
        assert terp.stdout is not None
        pids = [int(word) for _ in range(2) for word in terp.stdout.readline().split()]
        assert (len(pids), all(map(_lives, pids))) == (3, True)
        terp.kill()
    assert _left(pids) == []


async def test_a_flood_is_counted_past_the_limit_and_costs_no_memory(shell: Kernel) -> None:
    before = psutil.Process().memory_info().rss
    received = 0
    omitted = 0
    async for item in shell.execute("seq 10000000"):
        received += len(getattr(item, "text", ""))
        omitted += getattr(item, "characters", 0)
    assert received + omitted == 78_888_897
    assert received == 64_000_000
    assert psutil.Process().memory_info().rss - before < 200_000_000


def _left(pids: Sequence[int]) -> Sequence[psutil.Process]:
    """Those that have not ended soon after they were killed."""
    _, alive = psutil.wait_procs([psutil.Process(pid) for pid in pids if _lives(pid)], timeout=PATIENCE_S)
    return alive


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
