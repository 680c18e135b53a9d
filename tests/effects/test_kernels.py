"""Effects of code in real kernels wait for their decision, in each tier."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import FileChange, PerformedEffect, RunEnded
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.effects import AskedEffect, Grant, HeldEffects, HoldsEffects
from terp.kernels.sandbox.policy import SandboxOptions
from terp.kernels.sandbox.tier import Tier
from tests.sandbox.held import printed_by
from tests.sandbox.world import World


# One event loop for a kernel: it lives on the loop that started it.
@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def world(tier: Tier) -> AsyncIterator[World]:
    world = World()
    yield world
    world.close()


@pytest.fixture(scope="module")
async def kernel(tier: Tier, world: World) -> AsyncIterator[Kernel]:
    confinement = Confinement(
        SandboxOptions("workspace", hold=True), str(world.proj), world.environ, tiers=lambda *_: [tier]
    )
    assert confinement.holds, confinement.not_held
    kernels = LocalKernels(str(world.proj), environ=world.environ, confinement=confinement)
    yield kernels.get("python")
    await kernels.aclose()


def effects(kernel: Kernel) -> HeldEffects:
    assert isinstance(kernel, HoldsEffects)
    return kernel.effects


def deciding(kernel: Kernel, *, allow: bool) -> list[AskedEffect]:
    """Answer all questions from now on; return where they are kept."""
    asked: list[AskedEffect] = []

    async def decide(effect: AskedEffect) -> bool:
        asked.append(effect)
        return allow

    effects(kernel).ask = decide
    effects(kernel).grant([Grant(("create",), f"{kernel.cwd}/.*")])
    return asked


async def test_a_refused_effect_is_an_error_of_the_code(kernel: Kernel, world: World) -> None:
    photo = world.proj / "photo"
    photo.write_text("as it was")
    asked = deciding(kernel, allow=False)
    printed = await printed_by(kernel, "import os\nx = 1\nos.remove('photo')")
    assert "PermissionError" in printed
    assert [(one.verb, one.what, one.to) for one in asked] == [("delete", str(photo), "")]
    assert photo.exists()
    assert await printed_by(kernel, "print(x)") == "1\n\n[ok] "


async def end_of(kernel: Kernel, code: str) -> RunEnded:
    [ended] = [item async for item in kernel.execute(code) if isinstance(item, RunEnded)]
    return ended


async def test_an_allowed_effect_happens_and_is_accounted(kernel: Kernel, world: World) -> None:
    photo = world.proj / "photo"
    photo.write_text("as it was")
    deciding(kernel, allow=True)
    ended = await end_of(kernel, "import os; os.remove('photo'); open('new', 'w').write('1')")
    assert not photo.exists()
    assert [one for one in ended.effects if one.verb != "run"] == [
        PerformedEffect("delete", str(photo)),
        PerformedEffect("create", str(world.proj / "new"), size=1),
    ]
    assert ended.files == (
        FileChange(str(world.proj / "new"), "created", 1),
        FileChange(str(photo), "deleted"),
    )


async def test_a_shell_command_is_asked_about_too(kernel: Kernel, world: World) -> None:
    (world.proj / "photo").write_text("as it was")
    asked = deciding(kernel, allow=False)
    await printed_by(kernel, "!rm -f photo; echo harm > photo")
    assert [(one.verb, one.program) for one in asked] == [("delete", "rm"), ("modify", "sh")]
    assert (world.proj / "photo").read_text() == "as it was"


async def test_files_of_programs_are_found_without_a_scan(kernel: Kernel, world: World) -> None:
    deciding(kernel, allow=True)
    (world.proj / "data").write_text("as it was")
    (world.proj / "deep" / "er").mkdir(parents=True)
    code = "!mv data deep/er/moved; mkdir .hidden; echo 1 | tee made .hidden/x t > deep/er/new; rm t"
    ended = await end_of(kernel, code)
    changes = [
        (one.path.removeprefix(f"{world.proj}/"), one.action, one.size, one.source.rpartition("/")[2])
        for one in ended.files
    ]
    assert changes == [
        ("deep/er/moved", "moved", 9, "data"),
        ("deep/er/new", "created", 2, ""),
        ("made", "created", 2, ""),
    ]


async def test_a_run_that_kills_its_kernel_is_accounted(kernel: Kernel, world: World) -> None:
    deciding(kernel, allow=True)
    ended = await end_of(kernel, "open('last', 'w').write('123'); import os; os._exit(1)")
    assert (ended.status, ended.files) == ("died", (FileChange(str(world.proj / "last"), "created", 3),))


async def test_an_interrupt_ends_a_call_that_waits(kernel: Kernel, world: World) -> None:
    (world.proj / "photo").write_text("as it was")
    waiting, never = asyncio.Event(), asyncio.Event()

    async def decide(_: AskedEffect) -> bool:
        waiting.set()
        await never.wait()
        return True

    effects(kernel).ask = decide
    effects(kernel).grant([])
    async with aclosing(kernel.execute("import os; os.remove('photo')")) as items:
        reading = asyncio.create_task(_all(items))
        await waiting.wait()
        effects(kernel).interrupt()
        await kernel.interrupt()
        await reading
    assert (world.proj / "photo").exists()
    # The time limit of a run does not count it.
    assert effects(kernel).waited_s() > 0
    deciding(kernel, allow=False)
    assert "[ok]" in await printed_by(kernel, "1")


async def _all(items: AsyncIterator[object]) -> None:
    async for _ in items:
        pass


async def test_a_kernel_starts_again_with_its_effects_held(kernel: Kernel, world: World) -> None:
    (world.proj / "photo").write_text("as it was")
    asked = deciding(kernel, allow=False)
    await kernel.restart()
    await printed_by(kernel, "import os; os.remove('photo')")
    assert [one.verb for one in asked] == ["delete"]
    assert (world.proj / "photo").exists()
