import asyncio
from contextlib import aclosing

from terp.events.kernel import Kernel
from terp.events.outputs import Display, Error, RunEnded, RunStarted, Text
from tests.core.kernels.running import ran


async def test_a_run_begins_with_its_number_and_ends_once(kernel: Kernel) -> None:
    await kernel.restart()
    run = await ran(kernel, "print('a')\n1 + 1")
    assert run.items == [
        RunStarted(1),
        Text("stdout", "a\n"),
        Display({"text/plain": "2"}, is_result=True),
        RunEnded("ok"),
    ]


async def test_variables_survive_between_runs(kernel: Kernel) -> None:
    await ran(kernel, "a = 41")
    assert (await ran(kernel, "print(a + 1)")).stdout == "42\n"


async def test_an_error_is_told_after_the_output_before_it(kernel: Kernel) -> None:
    run = await ran(kernel, "print('before')\n1 / 0")
    text, error = run.outputs
    assert text == Text("stdout", "before\n")
    assert isinstance(error, Error)
    assert (error.name, error.value) == ("ZeroDivisionError", "division by zero")
    assert run.ended.status == "error"


async def test_code_runs_right_after_code_that_failed(kernel: Kernel) -> None:
    for number in range(5):
        await ran(kernel, "1 / 0")
        assert (await ran(kernel, f"print({number})")).stdout == f"{number}\n"


async def test_closing_the_generator_interrupts_the_code(kernel: Kernel) -> None:
    await ran(kernel, "kept = 1")
    async with aclosing(kernel.execute("import time\nprint('on', flush=True)\ntime.sleep(60)")) as run:
        async for item in run:
            if isinstance(item, Text):
                break
    assert (await ran(kernel, "print(kept)")).stdout == "1\n"


async def test_cancelling_the_consumer_interrupts_the_code(kernel: Kernel) -> None:
    await ran(kernel, "kept = 1")
    on = asyncio.Event()

    async def consume() -> None:
        async for item in kernel.execute("import time\nprint('on', flush=True)\ntime.sleep(60)"):
            if isinstance(item, Text):
                on.set()

    consumer = asyncio.create_task(consume())
    await on.wait()
    consumer.cancel()
    await asyncio.wait({consumer})
    assert (await ran(kernel, "print(kept)")).stdout == "1\n"
