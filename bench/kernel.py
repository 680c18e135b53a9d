"""Runs in a Python kernel: through terp, and through jupyter_client with nothing on top."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import aclosing

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager

from bench.measure import Row, ratio, show
from terp.kernels.local import LocalKernels
from terp.kernels.protocol import Kernel
from terp.outputs import RunEnded

LINES = 100_000
FLOOD = f"for i in range({LINES}): print('line', i)"
DISPLAYS = "for i in range(30): display({'text/plain': str(i)}, raw=True)"


async def with_terp(kernel: Kernel, code: str) -> float:
    """Seconds until the run had ended."""
    began = time.perf_counter()
    async with aclosing(kernel.execute(code)) as items:
        async for item in items:
            if isinstance(item, RunEnded) and item.status != "ok":
                raise SystemExit(f"{code!r} ended with {item}")
    return time.perf_counter() - began


async def bare(client: AsyncKernelClient, code: str) -> float:
    """Seconds until the kernel had sent its reply and was idle."""
    began = time.perf_counter()
    request = client.execute(code)
    while True:
        message = await client.get_iopub_msg()
        mine = message["parent_header"].get("msg_id") == request
        if mine and message["content"].get("execution_state") == "idle":
            break
    await client.get_shell_msg()
    return time.perf_counter() - began


async def bare_kernel(folder: str) -> tuple[AsyncKernelManager, AsyncKernelClient, float]:
    """A kernel of jupyter_client on IPC sockets, its client, and the seconds to its readiness."""
    manager = AsyncKernelManager(transport="ipc", ip=f"{folder}/k")
    began = time.perf_counter()
    await manager.start_kernel(cwd=folder)
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(timeout=60)
    return manager, client, time.perf_counter() - began


async def compare(folder: str, rounds: int) -> list[Row]:
    manager, client, bare_start = await bare_kernel(folder)
    kernels = LocalKernels(folder)
    kernel = kernels.get("python")
    began = time.perf_counter()
    await kernel.start()
    start = time.perf_counter() - began
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(await with_terp(kernel, "1 + 1"))
        theirs.append(await bare(client, "1 + 1"))
    # The first runs pay for what a kernel imports once.
    run, bare_run = statistics.median(ours[5:]), statistics.median(theirs[5:])
    displays = await with_terp(kernel, DISPLAYS)
    floods, bare_floods = [], []
    for _ in range(3):
        floods.append(await with_terp(kernel, FLOOD))
        bare_floods.append(await bare(client, FLOOD))
    await kernels.aclose()
    client.stop_channels()
    await manager.shutdown_kernel(now=True)
    allowed_ms = 0.3 * bare_run * 1e3 + 8
    detail = f"{run * 1e3:.2f} ms to {bare_run * 1e3:.2f} ms; 0.3 × that and 8 ms for what a run changed"
    return [
        ratio("start to ready", "bare", start, bare_start, 1),
        Row("1 + 1, more than bare", (run - bare_run) * 1e3, "ms", allowed_ms, detail),
        Row("30 displays", displays, "s", 0.3),
        ratio(
            f"{LINES:,} printed lines", "bare", statistics.median(floods), statistics.median(bare_floods), 1.2
        ),
    ]


def rows(rounds: int = 60) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from asyncio.run(compare(folder, rounds))


if __name__ == "__main__":
    show(str(__doc__), rows())
