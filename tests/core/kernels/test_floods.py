import asyncio
import time

import psutil
import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import Omitted, RunEnded, RunItem, Text
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.running import PATIENCE_S, interrupted_at, ran


async def test_a_long_text_arrives_whole(kernel: Kernel) -> None:
    run = await ran(kernel, "print('x' * 30_000_000)")
    assert run.stdout == "x" * 30_000_000 + "\n"
    assert run.ended == RunEnded("ok")


async def test_a_stalled_reader_loses_no_line_and_not_the_end(kernel: Kernel) -> None:
    stalled = False
    text = ""
    async with asyncio.timeout(PATIENCE_S):
        async for item in kernel.execute("for i in range(20_000): print(i, flush=True)"):
            if isinstance(item, Text):
                text += item.text
                if not stalled:
                    # The whole event loop stands still, as it does when a front end draws too much.
                    time.sleep(1)  # noqa: ASYNC251
                    stalled = True
    assert text == "".join(f"{number}\n" for number in range(20_000))


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "print('on', flush=True)\nfor _ in range(60): print('x' * 999_999)"),
        ("shell", "echo on; head -c 60000000 /dev/zero | tr '\\0' x"),
    ],
)
async def test_what_is_not_read_yet_waits_in_the_kernel(
    kernels: LocalKernels, language: str, code: str
) -> None:
    process = psutil.Process()
    before = growth = received = 0
    async with asyncio.timeout(PATIENCE_S):
        async for item in kernels.get(language).execute(code):
            if not isinstance(item, Text):
                continue
            received += len(item.text)
            if not before:
                before = process.memory_info().rss
                # The whole event loop stands still, but not what takes messages from the sockets.
                time.sleep(1)  # noqa: ASYNC251
                growth = process.memory_info().rss - before
    assert received == 60_000_003
    assert growth < 20_000_000


async def test_a_flood_is_cut_with_a_count_and_can_be_interrupted(kernel: Kernel) -> None:
    code = "line = 'x' * 99\nprint('on', flush=True)\nwhile True: print(line)"
    run = await interrupted_at(kernel, code, "on")
    assert run.ended.status == "interrupted"
    assert len(run.stdout) <= 64_000_000
    assert (await ran(kernel, "print(len(line))")).stdout == "99\n"


async def test_what_is_past_the_limit_is_counted(kernels: LocalKernels, kernel: Kernel) -> None:
    run = await ran(kernel, "import sys\nfor _ in range(70): _ = sys.stdout.write('x' * 999_999 + '\\n')")
    lost = [item for item in run.items if isinstance(item, Omitted)]
    assert len(run.stdout) == 64_000_000
    assert sum(item.characters for item in lost) == 6_000_000
    assert sum(item.lines for item in lost) == 6


async def test_an_error_passes_after_a_flood(kernel: Kernel) -> None:
    run = await ran(kernel, "print('x' * 70_000_000)\n1 / 0")
    assert run.ended.status == "error"
    assert [type(item).__name__ for item in run.outputs][-2:] == ["Error", "Omitted"]


async def test_a_giant_repr_is_cut_with_a_count(kernel: Kernel) -> None:
    run = await ran(kernel, "'x' * 20_000_000")
    (shown,) = run.results
    assert len(shown) == 4_000_000
    assert Omitted(16_000_002, 0, spooled=False) in run.items


async def test_many_displays_all_arrive(kernel: Kernel) -> None:
    run = await ran(kernel, "for i in range(3000): display(i)")
    assert run.results == [str(number) for number in range(3000)]


async def test_the_limit_of_a_kernel_without_limiter_is_kept_here(kernels: LocalKernels) -> None:
    small = LocalKernels(kernels.cwd, KernelOptions(max_output_chars=1000))
    try:
        run = await ran(small.get("python"), "print('x' * 5000)")
    finally:
        await small.aclose()
    items: list[RunItem] = [Text("stdout", "x" * 1000), Omitted(4001, 1, spooled=False)]
    assert run.outputs == items
