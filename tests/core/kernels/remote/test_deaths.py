"""How kernels at a gateway end, by themselves and by others."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from terp.errors import KernelStartFailed
from terp.events.outputs import RunItem, Text
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.remote.kernels import GatewayKernels
from tests.core.kernels.remote.connecting import connected
from tests.core.kernels.remote.servers import Server
from tests.core.kernels.running import PATIENCE_S, Listener, Ran, ran

ENDLESS = """
import time
print('on')
while True:
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        pass
"""


@pytest.fixture
async def there(server: Server, tmp_path: Path) -> AsyncGenerator[GatewayKernels, None]:
    kernels = await connected(server, tmp_path)
    yield kernels
    await kernels.aclose()


def kernel_id(folder: Path) -> str:
    return str(json.loads((folder / "kernels.json").read_text())["kernels"]["python"])


async def test_a_kernel_that_dies_ends_its_run_and_the_next_one_has_a_new_kernel(
    there: GatewayKernels,
) -> None:
    kernel = there.get("python")
    await ran(kernel, "kept = 1")
    before = kernel.generation
    run = await ran(kernel, "import os; os._exit(3)")
    assert run.ended.status == "died"
    assert run.ended.note.startswith(f"The kernel at {there.elsewhere} died. Its variables are lost")
    again = await ran(kernel, "'kept' in dir(), 6 * 7")
    assert (again.results, kernel.generation) == (["(False, 42)"], before + 1)


async def test_a_kernel_that_somebody_has_ended_answers_no_more(
    a_jupyter_server: Server, tmp_path: Path
) -> None:
    """Its websocket stays open: the gateway is asked."""
    there = await connected(a_jupyter_server, tmp_path)
    kernel = there.get("python")
    await kernel.start()
    a_jupyter_server.asked(f"kernels/{kernel_id(tmp_path)}", "DELETE")
    run = await ran(kernel, "1")
    assert (run.ended.status, f"{there.elsewhere} was ended there." in run.ended.note) == ("died", True)
    assert (await ran(kernel, "6 * 7")).results == ["42"]
    await there.aclose()


async def test_a_kernel_that_somebody_restarts_has_lost_its_variables(
    there: GatewayKernels, server: Server, tmp_path: Path
) -> None:
    kernel, heard = there.get("python"), Listener()
    there.listen(heard)
    await ran(kernel, "kept = 1")
    server.asked(f"kernels/{kernel_id(tmp_path)}/restart", "POST")
    # If nobody has heard of it, the next run notices.
    await ran(kernel, "1")
    await heard.until_state("died")
    told = f"The kernel at {there.elsewhere} was restarted by somebody else."
    assert [why.partition(" Its variables")[0] for why in heard.whys if "restarted" in why] == [told]
    assert (await ran(kernel, "'kept' in dir(), 6 * 7")).results == ["(False, 42)"]


async def test_code_that_ignores_interrupts_is_ended_with_its_kernel_by_a_second_one(
    a_jupyter_server: Server, tmp_path: Path
) -> None:
    there = await connected(a_jupyter_server, tmp_path)
    kernel = there.get("python")
    await kernel.start()
    first = kernel_id(tmp_path)
    items: list[RunItem] = []

    async def interrupt_twice() -> None:
        await kernel.interrupt()
        await kernel.interrupt()

    async with asyncio.timeout(PATIENCE_S), aclosing(kernel.execute(ENDLESS)) as run:
        async for item in run:
            items.append(item)
            if isinstance(item, Text) and "on" in item.text:
                stopping = asyncio.create_task(interrupt_twice())
    await stopping
    assert (Ran(items).ended.status, (await ran(kernel, "6 * 7")).results) == ("died", ["42"])
    assert kernel_id(tmp_path) != first
    await there.aclose()


async def test_a_restart_gives_a_fresh_kernel(there: GatewayKernels) -> None:
    kernel = there.get("python")
    await ran(kernel, "kept = 1")
    await kernel.restart()
    assert (await ran(kernel, "'kept' in dir()")).results == ["False"]


async def test_a_death_between_runs_is_told(a_jupyter_server: Server, tmp_path: Path) -> None:
    there, heard = await connected(a_jupyter_server, tmp_path), Listener()
    there.listen(heard)
    await ran(there.get("python"), "import os, threading; threading.Timer(0.2, os._exit, [3]).start()")
    await heard.until_state("died")
    assert heard.states.count("died") == 1
    await there.aclose()


async def test_the_end_of_a_session_ends_its_kernels(server: Server, tmp_path: Path) -> None:
    kernels = await connected(server, tmp_path)
    await kernels.get("python").start()
    kernel = kernel_id(tmp_path)
    assert kernel in str(server.asked("kernels"))
    await kernels.aclose()
    assert kernel not in str(server.asked("kernels"))
    assert not (tmp_path / "kernels.json").exists()


async def test_an_ended_kernel_stays_ended(server: Server, tmp_path: Path) -> None:
    kernels = await connected(server, tmp_path)
    kernel = kernels.get("python")
    await kernels.aclose()
    with pytest.raises(KernelStartFailed):
        await kernel.start()


async def test_a_start_that_is_taken_back_leaves_no_kernel(server: Server, tmp_path: Path) -> None:
    before = server.asked("kernels")
    kernels = await connected(server, tmp_path, KernelOptions())
    start = asyncio.create_task(kernels.get("python").start())
    await asyncio.sleep(0)
    await kernels.aclose()
    await asyncio.wait({start})
    assert server.asked("kernels") == before
