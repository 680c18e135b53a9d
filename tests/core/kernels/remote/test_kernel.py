"""What a kernel at a gateway does as one of this machine does it."""

from terp.events.kernel import Kernel
from terp.events.outputs import Error
from tests.core.kernels.running import interrupted_at, ran, ran_with


async def test_code_runs_and_its_result_comes_back(kernel: Kernel) -> None:
    run = await ran(kernel, "print('out'); 6 * 7")
    assert (run.stdout, run.results, run.ended.status) == ("out\n", ["42"], "ok")


async def test_variables_stay(kernel: Kernel) -> None:
    await ran(kernel, "kept = 41")
    assert (await ran(kernel, "kept + 1")).results == ["42"]


async def test_an_error_comes_with_its_traceback(kernel: Kernel) -> None:
    run = await ran(kernel, "1/0")
    (error,) = (item for item in run.items if isinstance(item, Error))
    assert (error.name, run.ended.status) == ("ZeroDivisionError", "error")


async def test_code_can_ask_for_a_line(kernel: Kernel) -> None:
    assert (await ran_with(kernel, "print('hi ' + input('name? '))", "Ada")).stdout == "hi Ada\n"


async def test_an_interrupt_ends_the_code_and_keeps_the_variables(kernel: Kernel) -> None:
    await ran(kernel, "before = 1")
    run = await interrupted_at(kernel, "import time\nprint('on')\ntime.sleep(60)", "on")
    assert (run.ended.status, (await ran(kernel, "before")).results) == ("interrupted", ["1"])


async def test_code_that_awaits_can_be_interrupted(kernel: Kernel) -> None:
    run = await interrupted_at(kernel, "import asyncio\nprint('on')\nawait asyncio.sleep(60)", "on")
    assert run.ended.status == "interrupted"
