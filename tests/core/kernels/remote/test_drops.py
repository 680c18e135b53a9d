"""What becomes of a run when the connection breaks while it goes on."""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest
import websockets

from terp.events.kernel import Kernel
from terp.events.outputs import RunEnded, RunItem, Text
from terp.kernels.remote.kernels import GatewayKernels
from tests.core.kernels.remote.connecting import connected
from tests.core.kernels.remote.network import Network, network_to
from tests.core.kernels.remote.servers import Server
from tests.core.kernels.running import PATIENCE_S, Ran, ran

TICKS = """
import pathlib, time
for drop in range(3):
    print("on", drop, flush=True)
    while not pathlib.Path(f"go{drop}").exists():
        time.sleep(0.02)
    print("away", drop, flush=True)
    pathlib.Path(f"gone{drop}").touch()
print("end")
"""
ALL = "".join(f"on {drop}\naway {drop}\n" for drop in range(3)) + "end\n"


@pytest.fixture
async def network(server: Server) -> AsyncGenerator[Network, None]:
    async with network_to(server) as network:
        yield network


@pytest.fixture
async def there(network: Network, tmp_path: Path) -> AsyncGenerator[GatewayKernels, None]:
    kernels = await connected(network.server, tmp_path, url=network.url)
    yield kernels
    await kernels.aclose()


@pytest.fixture
async def python(there: GatewayKernels) -> Kernel:
    return there.get("python")


async def cut_at(network: Network, kernel: Kernel, code: str, *texts: str) -> Ran:
    """Run `code`, and cut the network whenever one of `texts` was printed."""
    items: list[RunItem] = []
    left = list(texts)
    async with asyncio.timeout(PATIENCE_S), aclosing(kernel.execute(code)) as run:
        async for item in run:
            items.append(item)
            if isinstance(item, Text) and left and left[0] in item.text:
                left.pop(0)
                assert network.cut()
    assert not left
    return Ran(items)


def appears(path: Path) -> None:
    """Return when there is a file."""
    while not path.exists():
        time.sleep(0.02)


def lets_go(server: Server) -> None:
    """Return when the server knows of no connection to its kernel."""
    while [kernel["connections"] for kernel in cast("list[dict[str, Any]]", server.asked("kernels"))] != [0]:
        time.sleep(0.02)


async def away_until(network: Network, name: str, kernel: Kernel, code: str) -> Ran:
    """Run `code`; when it has printed "on", let there be no network until it has made the file `name`."""
    items: list[RunItem] = []
    async with asyncio.timeout(PATIENCE_S), aclosing(kernel.execute(code)) as run:
        async for item in run:
            items.append(item)
            if isinstance(item, Text) and "on" in item.text:
                network.up = False
                network.cut()
                await asyncio.to_thread(appears, network.server.root / name)
                network.up = True
    return Ran(items)


async def test_nothing_is_lost_by_three_drops_that_the_server_notices(
    network: Network, python: Kernel
) -> None:
    """What is printed before the server notices a drop is sent to the broken connection, and is lost."""
    items: list[RunItem] = []
    async with asyncio.timeout(PATIENCE_S), aclosing(python.execute(TICKS)) as run:
        async for item in run:
            items.append(item)
            if isinstance(item, Text) and (drop := re.search("on ([0-2])", item.text)):
                network.up = False
                network.cut()
                await asyncio.to_thread(lets_go, network.server)
                (network.server.root / f"go{drop[1]}").touch()
                await asyncio.to_thread(appears, network.server.root / f"gone{drop[1]}")
                network.up = True
    ran = Ran(items)
    assert (ran.stdout, ran.stderr, ran.ended.status) == (ALL, "", "ok")


async def test_a_run_that_ends_while_the_connection_is_away_ends(network: Network, python: Kernel) -> None:
    await ran(python, "import pathlib, time")
    code = "print('on', flush=True); time.sleep(0.3); pathlib.Path('done').touch(); 'result'"
    run = await away_until(network, "done", python, code)
    assert (run.results, run.ended.status) == (["'result'"], "ok")


async def test_the_next_run_waits_until_the_connection_is_back(network: Network, python: Kernel) -> None:
    await ran(python, "kept = 42")
    network.up = False
    network.cut()
    run = asyncio.create_task(ran(python, "kept"))
    await asyncio.wait({run}, timeout=0.3)
    assert not run.done()
    network.up = True
    assert (await run).results == ["42"]


async def test_a_run_can_be_interrupted_after_a_drop(network: Network, python: Kernel) -> None:
    await ran(python, "kept = 42")
    run = asyncio.create_task(cut_at(network, python, "import time\nprint('on')\ntime.sleep(60)", "on"))
    await asyncio.wait({run}, timeout=0.5)
    await python.interrupt()
    assert ((await run).ended.status, (await ran(python, "kept")).results) == ("interrupted", ["42"])


async def test_a_kernel_out_of_reach_is_looked_for_again(a_jupyter_server: Server, tmp_path: Path) -> None:
    async with network_to(a_jupyter_server) as network:
        kernels = await connected(a_jupyter_server, tmp_path, url=network.url)
        kernel = kernels.get("python")
        await ran(kernel, "kept = 42; import time")
        stopping: list[asyncio.Task[None]] = []

        async def interrupt_twice() -> None:
            await kernel.interrupt()
            await kernel.interrupt()

        async with asyncio.timeout(PATIENCE_S), aclosing(kernel.execute("print('on'); time.sleep(7)")) as run:
            async for item in run:
                if isinstance(item, Text) and "on" in item.text:
                    network.up = False
                    network.cut()
                    stopping.append(asyncio.create_task(interrupt_twice()))
        assert isinstance(item, RunEnded)
        assert (item.status, "could not be ended" in item.note) == ("died", True)
        assert item.note.endswith("The next run looks for it again.")
        await stopping[0]
        network.up = True
        assert (await ran(kernel, "kept")).results == ["42"]
        await kernels.aclose()


async def test_what_another_client_makes_the_gateway_forget_is_told(
    network: Network, python: Kernel, tmp_path: Path
) -> None:
    """A gateway keeps messages only for the last client that leaves."""
    await ran(python, "import pathlib, time")
    kernel_id = json.loads((tmp_path / "kernels.json").read_text())["kernels"]["python"]
    async with websockets.connect(
        network.server.gateway.channels(kernel_id, "another"),
        additional_headers=network.server.gateway.headers,
        max_queue=None,
    ):
        code = "print('on', flush=True); time.sleep(0.3); pathlib.Path('told').touch(); 'result'"
        run = await away_until(network, "told", python, code)
    assert "did not come through" in run.stderr
    assert run.ended.status == "error"
    assert (await ran(python, "6 * 7")).results == ["42"]
