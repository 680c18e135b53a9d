"""When a kernel begins again by itself, and what holds it then."""

import asyncio
import os
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from terp.errors import KernelKilled
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.policy import Policy, SandboxOptions
from terp.kernels.sandbox.tier import ProcessCommand, Unconfined
from tests.core.kernels.running import Listener, ran

HELD = replace(Unconfined(), name="docker")


class Switched(LocalKernels):
    """Kernels that a sandbox holds from their start on, once code runs `unasked`."""

    def __init__(self, cwd: Path) -> None:
        self.unasked = False
        held = Confinement(
            SandboxOptions("auto"), str(cwd), os.environ, lambda: self.unasked, tiers=lambda *_: [HELD]
        )
        super().__init__(str(cwd), confinement=held)


@pytest.fixture
async def kernels(tmp_path: Path) -> AsyncGenerator[Switched, None]:
    kernels = Switched(tmp_path)
    yield kernels
    await kernels.aclose()


async def test_a_kernel_that_no_code_has_used_begins_again_in_the_sandbox(kernels: Switched) -> None:
    kernel = kernels.get("python")
    await kernel.start()
    before = kernel.connection_file
    kernels.unasked = True
    assert kernel.tier == "docker"
    run = await ran(kernel, "print(1)")
    assert (run.stdout, kernel.tier, kernel.connection_file == before) == ("1\n", "docker", False)


async def test_a_kernel_that_is_starting_begins_again_in_the_sandbox(kernels: Switched) -> None:
    kernel, listener = kernels.get("python"), Listener()
    kernels.listen(listener)
    starting = asyncio.create_task(kernel.start())
    await listener.until_state("starting")
    kernels.unasked = True
    run = await ran(kernel, "print(1)")
    await starting
    assert (run.stdout, kernel.tier, listener.states.count("starting")) == ("1\n", "docker", 2)


async def test_a_kernel_that_has_run_code_stays_as_it_is(kernels: Switched) -> None:
    kernel = kernels.get("python")
    await ran(kernel, "x = 1")
    kernels.unasked = True
    assert ((await ran(kernel, "print(x)")).stdout, kernel.tier) == ("1\n", "none")


async def test_a_kernel_in_the_sandbox_stays_there(kernels: Switched) -> None:
    kernels.unasked = True
    kernel = kernels.get("python")
    await kernel.start()
    kernels.unasked = False
    assert ((await ran(kernel, "print(1)")).stdout, kernel.tier) == ("1\n", "docker")


async def test_a_restart_ends_a_kernel_that_is_still_starting(kernels: Switched) -> None:
    kernel, listener = kernels.get("python"), Listener()
    kernels.listen(listener)
    starting = asyncio.create_task(kernel.start())
    await listener.until_state("starting")
    await kernel.restart()
    await starting
    assert (listener.states.count("starting"), kernel.generation) == (2, 2)


async def test_a_kernel_starts_when_there_is_room(tmp_path: Path) -> None:
    kernels, listener, room = LocalKernels(str(tmp_path)), Listener(), asyncio.Semaphore(1)
    kernels.starting = room
    kernels.listen(listener)
    kernel = kernels.get("python")
    async with room:
        starting = asyncio.create_task(kernel.start())
        await listener.until_state("starting")
        assert kernel.connection_file == ""
    await starting
    assert (listener.states, room.locked()) == (["starting", "ready"], False)
    await kernels.aclose()


KILLS_ITSELF = """
import os, pathlib
starts = pathlib.Path("starts")
starts.write_text(f"{starts.read_text() if starts.exists() else ''}I")
if len(starts.read_text()) <= TIMES:
    os.kill(os.getpid(), 9)
"""


def killed_while_starting(tmp_path: Path, times: int) -> LocalKernels:
    prelude = KILLS_ITSELF.replace("TIMES", str(times))
    return LocalKernels(str(tmp_path), KernelOptions(prelude=prelude))


async def test_a_kernel_that_is_killed_while_it_starts_is_started_once_more(tmp_path: Path) -> None:
    kernels, listener = killed_while_starting(tmp_path, 1), Listener()
    kernels.listen(listener)
    assert (await ran(kernels.get("python"), "print(1)")).stdout == "1\n"
    await kernels.aclose()
    assert listener.states == ["starting", "died", "starting", "ready", "stopped"]
    assert listener.whys[1] == (
        "The kernel did not start. The kernel ended by signal SIGKILL. It is started once more."
    )


async def test_a_kernel_that_is_killed_in_two_starts_is_given_up(tmp_path: Path) -> None:
    kernels = killed_while_starting(tmp_path, 9)
    with pytest.raises(KernelKilled, match="The kernel ended by signal SIGKILL"):
        await kernels.get("python").start()
    await kernels.aclose()
    assert (tmp_path / "starts").read_text() == "II"


class Losing(Unconfined):
    """A sandbox in which the first start meets a socket that is not there any more."""

    def wrap(self, command: ProcessCommand, policy: Policy) -> ProcessCommand:
        tried = Path(command.cwd) / "tried"
        if tried.exists():
            return super().wrap(command, policy)
        tried.touch()
        failing = 'echo "bwrap: Can\'t create file at /run/gone: Read-only file system" >&2; exit 1'
        return replace(command, argv=("/bin/sh", "-c", failing))


async def test_a_kernel_is_started_once_more_if_a_mount_of_its_sandbox_failed(tmp_path: Path) -> None:
    tier = Losing(name="docker")
    held = Confinement(SandboxOptions("workspace"), str(tmp_path), os.environ, tiers=lambda *_: [tier])
    kernels = LocalKernels(str(tmp_path), confinement=held)
    assert (await ran(kernels.get("python"), "print(1)")).stdout == "1\n"
    await kernels.aclose()
