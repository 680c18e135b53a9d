import asyncio
import os
import signal
from contextlib import aclosing

import pytest

from terp.events import KernelState
from terp.events.kernel import Kernel
from terp.events.outputs import InputRequest, RunEnded, RunItem, RunStarted, Text
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.running import PATIENCE_S, Listener, Ran, interrupted_at, ran


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("import os; os._exit(3)", "with exit code 3"),
        ("import ctypes; ctypes.string_at(0)", "by signal SIGSEGV"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "by signal SIGKILL"),
        ("import os; os.abort()", "by signal SIGABRT"),
    ],
)
async def test_a_kernel_that_dies_is_told_and_started_anew(
    kernel: Kernel, heard: Listener, code: str, how: str
) -> None:
    await kernel.start()
    generation = kernel.generation
    run = await ran(kernel, code)
    assert run.ended.status == "died"
    assert how in run.ended.note
    assert "variables are lost" in run.ended.note
    assert (await ran(kernel, "print('alive')")).stdout == "alive\n"
    assert kernel.generation == generation + 1
    assert heard.states[-3:] == ["died", "starting", "restarted"]
    assert how in heard.whys[-3]


async def test_code_that_ends_its_kernel_before_that_tells_of_it_has_run(kernel: Kernel) -> None:
    run = await ran(kernel, "import builtins; del builtins.len")
    assert [type(item) for item in run.items] == [RunStarted, RunEnded]
    assert run.ended.status == "died"


async def test_a_crash_in_c_code_is_told_with_the_line_that_caused_it(kernel: Kernel) -> None:
    run = await ran(kernel, "import ctypes\ndef crash():\n    ctypes.string_at(0)\ncrash()")
    assert "Fatal Python error: Segmentation fault" in run.ended.note
    assert "in crash" in run.ended.note


async def test_output_before_a_death_is_kept(kernel: Kernel) -> None:
    run = await ran(kernel, "import os, time\nprint('last words', flush=True)\ntime.sleep(0.2)\nos._exit(1)")
    assert run.stdout == "last words\n"


async def test_a_death_between_runs_is_told(kernel: Kernel, heard: Listener) -> None:
    await ran(kernel, "import os, threading\nthreading.Timer(0.1, os._exit, [7]).start()")
    await heard.until_state("died")
    assert "exit code 7" in heard.whys[-1]
    assert (await ran(kernel, "print(1)")).stdout == "1\n"


@pytest.mark.parametrize("code", ["exit()", "quit", "exit"])
async def test_code_that_ends_the_session_gets_a_fresh_kernel(kernel: Kernel, code: str) -> None:
    await ran(kernel, "here = 1")
    run = await ran(kernel, code)
    assert run.ended.status == "ok"
    assert "ended the session" in run.ended.note
    assert (await ran(kernel, "print('here' in globals())")).stdout == "False\n"


async def test_sys_exit_is_an_error_and_ends_nothing(kernel: Kernel) -> None:
    await ran(kernel, "here = 1")
    run = await ran(kernel, "import sys; sys.exit(2)")
    assert (run.ended.status, run.stderr) == ("error", "")
    assert (await ran(kernel, "print(here)")).stdout == "1\n"


@pytest.mark.parametrize(
    "waiting",
    [
        "time.sleep(60)",
        "while True: pass",
        "await asyncio.sleep(60)",
        "input()",
        "threading.Event().wait()",
        "subprocess.run(['sleep', '60'])",
        "!sleep 60",
    ],
)
async def test_an_interrupt_stops_code_and_keeps_its_variables(kernel: Kernel, waiting: str) -> None:
    await ran(kernel, "import asyncio, subprocess, threading, time\nkept = 42")
    generation = kernel.generation
    run = await interrupted_at(kernel, f"print('on', flush=True)\n{waiting}", "on")
    assert run.ended.status == "interrupted"
    assert (await ran(kernel, "print(kept)")).stdout == "42\n"
    assert kernel.generation == generation


async def test_an_interrupt_is_told_before_the_end_of_its_run(kernel: Kernel, heard: Listener) -> None:
    await kernel.start()
    heard.states.clear()
    told: list[KernelState] = []
    async with asyncio.timeout(PATIENCE_S), aclosing(kernel.execute("print(1, flush=True)\ninput()")) as run:
        async for item in run:
            if isinstance(item, InputRequest):
                stopping = asyncio.create_task(kernel.interrupt())
            if isinstance(item, RunEnded):
                told = list(heard.states)
    await stopping
    assert (told, heard.states) == (["interrupted"], ["interrupted"])


RESISTS = """
import signal, time
kept = 1
signal.signal(signal.SIGINT, lambda *_: None)
print("on", flush=True)
until = time.monotonic() + SECONDS
while time.monotonic() < until:
    time.sleep(0.1)
"""
ENDED = "terp ended the kernel, because its code did not stop."


async def begun(kernel: Kernel, seconds: int) -> asyncio.Task[Ran]:
    """A run that has printed its first line."""
    printed = asyncio.Event()

    async def consume() -> Ran:
        items: list[RunItem] = []
        async for item in kernel.execute(RESISTS.replace("SECONDS", str(seconds))):
            items.append(item)
            if isinstance(item, Text):
                printed.set()
        return Ran(items)

    run = asyncio.create_task(consume())
    async with asyncio.timeout(PATIENCE_S):
        await printed.wait()
    return run


async def unanswered(kernel: Kernel, heard: Listener, seconds: int) -> tuple[asyncio.Task[Ran], list[str]]:
    """A run that goes on after an interrupt that it has not answered, and what was told until then."""
    run = await begun(kernel, seconds)
    await kernel.interrupt()
    return run, list(heard.states)


async def test_one_interrupt_never_ends_a_kernel_whose_code_does_not_answer(
    kernel: Kernel, heard: Listener
) -> None:
    await kernel.start()
    generation = kernel.generation
    run, told = await unanswered(kernel, heard, 4)
    assert told[-1] == "interrupting"
    assert (await run).ended.status == "interrupted"
    assert (kernel.generation, (await ran(kernel, "print(kept)")).stdout) == (generation, "1\n")


async def test_a_second_interrupt_ends_code_that_does_not_answer_with_its_kernel(
    kernel: Kernel, heard: Listener
) -> None:
    run, _ = await unanswered(kernel, heard, 60)
    await kernel.interrupt()
    ended = (await run).ended
    assert (ended.status, ENDED in ended.note, "SIGKILL" in ended.note) == ("died", True, False)
    assert heard.whys[-1].startswith(ENDED)
    assert (await ran(kernel, "print(1)")).stdout == "1\n"


async def left(kernel: Kernel) -> None:
    """Begin a run that resists, and leave it: that interrupts it for the first time."""
    async with asyncio.timeout(PATIENCE_S), aclosing(kernel.execute(RESISTS.replace("SECONDS", "60"))) as run:
        async for item in run:
            if isinstance(item, Text):
                break


async def test_an_interrupt_ends_code_whose_consumer_has_left_with_its_kernel(
    kernel: Kernel, heard: Listener
) -> None:
    await left(kernel)
    await kernel.interrupt()
    assert heard.whys[-1].startswith(ENDED)
    assert (await ran(kernel, "print(1)")).stdout == "1\n"


async def test_an_interrupt_of_a_run_that_waits_for_code_that_resists_ends_both(
    kernel: Kernel, heard: Listener
) -> None:
    await left(kernel)
    waiting = asyncio.create_task(ran(kernel, "print(1)"))
    await asyncio.sleep(0)
    await kernel.interrupt()
    assert ((await waiting).ended.status, heard.whys[-1].startswith(ENDED)) == ("interrupted", True)


async def test_interrupts_in_quick_succession_are_one(kernel: Kernel, heard: Listener) -> None:
    run = await begun(kernel, 3)
    await asyncio.gather(*(kernel.interrupt() for _ in range(5)))
    assert (await run).ended.status == "interrupted"
    assert (await ran(kernel, "print(kept)")).stdout == "1\n"


async def test_a_run_past_its_time_that_does_not_answer_ends_with_its_kernel(kernel: Kernel) -> None:
    run = await ran(kernel, RESISTS.replace("SECONDS", "60"), timeout_s=0.5)
    assert run.ended.status == "timeout"
    assert run.ended.note.startswith(
        f"Stopped after 0.5 s, the longest that one run may take. {ENDED} Its variables are lost;"
    )


async def test_code_that_a_restart_ends_was_interrupted_before(kernel: Kernel, heard: Listener) -> None:
    run, _ = await unanswered(kernel, heard, 60)
    await kernel.restart()
    assert (await run).ended.status == "died"
    assert (await ran(kernel, "print('kept' in globals())")).stdout == "False\n"


async def test_an_interrupt_when_nothing_runs_is_harmless(kernel: Kernel) -> None:
    await ran(kernel, "kept = 1")
    await kernel.interrupt()
    assert (await ran(kernel, "print(kept)")).stdout == "1\n"


async def test_a_run_past_its_time_ends_with_what_it_had_printed(kernel: Kernel) -> None:
    await ran(kernel, "kept = 5")
    run = await ran(kernel, "import time\nprint(1, flush=True)\ntime.sleep(60)", timeout_s=0.5)
    assert (run.ended.status, run.stdout) == ("timeout", "1\n")
    assert run.ended.note == "Stopped after 0.5 s, the longest that one run may take."
    assert (await ran(kernel, "print(kept)")).stdout == "5\n"


async def test_an_interrupt_while_the_kernel_starts_runs_nothing(kernels: LocalKernels) -> None:
    fresh = LocalKernels(kernels.cwd)
    kernel = fresh.get("python")
    try:
        async with asyncio.timeout(PATIENCE_S), aclosing(kernel.execute("print('never')")) as run:
            waiting = asyncio.ensure_future(anext(run))
            await asyncio.sleep(0)
            await kernel.interrupt()
            item = await waiting
    finally:
        await fresh.aclose()
    assert not isinstance(item, RunStarted)
    assert item.status == "interrupted"  # type: ignore[union-attr]


async def test_restart_forgets_variables_and_ends_what_runs(kernel: Kernel) -> None:
    items: list[RunItem] = []
    async with (
        asyncio.timeout(PATIENCE_S),
        aclosing(kernel.execute("import time\nhere = 1\nprint('on', flush=True)\ntime.sleep(60)")) as run,
    ):
        async for item in run:
            items.append(item)
            if isinstance(item, Text):
                await kernel.restart()
    assert items[-1].status == "died"  # type: ignore[union-attr]
    assert (await ran(kernel, "print('here' in globals())")).stdout == "False\n"


async def test_runs_wait_for_each_other(kernel: Kernel) -> None:
    first, second = await asyncio.gather(
        ran(kernel, "import time\ntime.sleep(0.1)\nprint(1)"), ran(kernel, "print(2)")
    )
    assert (first.stdout, second.stdout) == ("1\n", "2\n")


@pytest.mark.parametrize(
    "facts", ["'touched': [1]", r"'touched': {'a\0b': None}", "'cwd': 7", "'omitted': 7"]
)
async def test_a_report_that_code_forges_does_not_keep_its_run_from_ending(
    kernel: Kernel, facts: str
) -> None:
    forged = f"display({{'application/vnd.terp.report+json': {{{facts}}}}}, raw=True)"
    assert (await ran(kernel, forged)).ended.status == "ok"
    assert (await ran(kernel, "print(1)")).stdout == "1\n"


async def test_a_kernel_that_dies_between_runs_is_another_one_at_once(
    kernel: Kernel, heard: Listener
) -> None:
    pid = int((await ran(kernel, "import os; print(os.getpid())")).stdout)
    generation = kernel.generation
    os.kill(pid, signal.SIGKILL)
    await heard.until_state("died")
    assert kernel.generation == generation + 1
    assert (await ran(kernel, "print('alive')")).stdout == "alive\n"
    assert kernel.generation == generation + 1
