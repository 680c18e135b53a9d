"""Runs in a Python kernel: through terp, and through jupyter_client with nothing on top."""

import asyncio
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager

from bench.measure import Row, ratio, show
from terp.events.kernel import Kernel
from terp.events.outputs import RunEnded
from terp.kernels.jupyter.local import LocalKernels
from terp.person import AutoRun, Nobody
from terp.session.session import Session
from terp.testing import ScriptedModel, call
from terp_cli.fronts.plain import PlainFront

LINES = 250_000
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


def through_a_session(
    kernels: LocalKernels, folder: str, code: str, turns: int
) -> Callable[[], Awaitable[float]]:
    """Seconds of a whole turn that runs `code`: logged, kept in a file, read by the model, shown as text."""
    model = ScriptedModel(*[reply for _ in range(turns) for reply in (call(code), "done")])
    session = Session(model, kernels, AutoRun(Nobody()), folder=Path(folder, "session"))

    async def turn() -> float:
        began = time.perf_counter()
        with open(os.devnull, "w") as nowhere:  # noqa: ASYNC230, PTH123
            async with aclosing(session.turn("go")) as events:
                await PlainFront(nowhere, nowhere).show(events)
        return time.perf_counter() - began

    return turn


async def in_turns(rounds: int, cases: Mapping[str, Callable[[], Awaitable[float]]]) -> dict[str, float]:
    """The median of each case, which take turns; the first rounds pay for what a kernel imports once."""
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(-(rounds // 10) - 1, rounds):
        for name, case in cases.items():
            seconds = await case()
            if number >= 0:
                taken[name].append(seconds)
    return {name: statistics.median(times) for name, times in taken.items()}


def peak_mb() -> float:
    """The most memory this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def compare(folder: str, rounds: int, floods: int) -> list[Row]:
    manager, client, bare_start = await bare_kernel(folder)
    kernels = LocalKernels(folder)
    kernel = kernels.get("python")
    began = time.perf_counter()
    await kernel.start()
    start = time.perf_counter() - began
    run = await in_turns(
        rounds, {"terp": lambda: with_terp(kernel, "1 + 1"), "bare": lambda: bare(client, "1 + 1")}
    )
    displays = await with_terp(kernel, DISPLAYS)
    before = peak_mb()
    flood = await in_turns(
        floods,
        {
            "terp": lambda: with_terp(kernel, FLOOD),
            "session": through_a_session(kernels, folder, FLOOD, floods + 1),
            "bare": lambda: bare(client, FLOOD),
        },
    )
    more = peak_mb() - before
    await kernels.aclose()
    client.stop_channels()
    await manager.shutdown_kernel(now=True)
    allowed_ms = 0.3 * run["bare"] * 1e3 + 8
    both = f"{run['terp'] * 1e3:.2f} ms to {run['bare'] * 1e3:.2f} ms"
    detail = f"{both}; 0.3 × that and 8 ms for what a run changed"
    return [
        ratio("start to ready", "bare", start, bare_start, 1),
        Row("1 + 1, more than bare", (run["terp"] - run["bare"]) * 1e3, "ms", allowed_ms, detail),
        Row("30 displays", displays, "s", 0.3),
        ratio(f"{LINES:,} printed lines", "bare", flood["terp"], flood["bare"], 1.2),
        ratio("the same in a whole turn", "bare", flood["session"], flood["bare"], 1.2),
        Row("memory for them", more, "MB more", 64),
    ]


def rows(rounds: int = 60, floods: int = 5) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from asyncio.run(compare(folder, rounds, floods))


if __name__ == "__main__":
    show(str(__doc__), rows())
