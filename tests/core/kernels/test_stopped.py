"""At which line code stood when it was stopped."""

import asyncio
import sys
from pathlib import Path

import pytest

from terp.events.changes import stopped_line
from terp.events.kernel import Kernel
from terp.events.outputs import Held, InputRequest, RunItem, StoppedAt
from tests.core.kernels.running import PATIENCE_S, Ran, interrupted_at, ran

# The text that a test waits for is sent by a thread, so that the code is not in `print` any more.
SOON = "import asyncio, threading, time\nthreading.Timer(0.2, lambda: print('on', flush=True)).start()\n"


@pytest.fixture(autouse=True)
async def without_names_of_other_tests(kernel: Kernel) -> None:
    """Values of names on the lines around are reported, whoever has set them in this kernel."""
    await ran(kernel, "%reset -sf")


async def stopped(kernel: Kernel, code: str) -> StoppedAt:
    """Where `code`, which follows two lines, stood when it was interrupted."""
    run = await interrupted_at(kernel, SOON + code, "on")
    assert run.ended.status == "interrupted"
    assert run.ended.stopped_at is not None
    return run.ended.stopped_at


async def test_an_interrupt_reports_the_line_and_its_small_values(kernel: Kernel) -> None:
    code = """
def fit(xs, name="abc", huge=10**100):
    other = 1

    for i in range(len(xs) * 10**9):
        pass; name, huge
fit(list(range(10_000)))"""
    found = await stopped(kernel, code)
    assert (found.function, found.run, found.file) == ("fit", 0, "")
    assert found.line in (7, 8)
    assert {held.name for held in found.values} == {"i", "xs", "name", "huge"}
    assert Held("xs", "list of 10,000") in found.values
    assert Held("name", "'abc'") in found.values
    assert Held("huge", "int of 333 bits") in found.values


WAITING = [
    ("time.sleep(60)", "line 3 (in time.sleep): time.sleep(60)"),
    ("await asyncio.sleep(60)", "line 3 (in asyncio.tasks.sleep): await asyncio.sleep(60)"),
    ("threading.Event().wait()", "line 3 (in threading.Event.wait): threading.Event().wait()"),
    (
        "for j in range(3): time.sleep(60)",
        "line 3 (in time.sleep): for j in range(3): time.sleep(60)   (j = 0)",
    ),
    (
        "try: time.sleep(60)\nexcept KeyboardInterrupt: raise ValueError",
        "line 3 (in time.sleep): try: time.sleep(60)",
    ),
]


@pytest.mark.parametrize(("code", "line"), WAITING)
@pytest.mark.skipif(sys.version_info < (3, 11), reason="older Pythons do not know what a line was calling")
async def test_code_that_waits_in_a_library_is_reported_by_its_own_line(
    kernel: Kernel, code: str, line: str
) -> None:
    assert stopped_line(await stopped(kernel, code)) == line


async def test_an_interrupted_question_is_reported_by_its_line(kernel: Kernel) -> None:
    items: list[RunItem] = []
    stopping: list[asyncio.Task[None]] = []
    async with asyncio.timeout(PATIENCE_S):
        async for item in kernel.execute("name = 'x'\ninput(name)"):
            items.append(item)
            if isinstance(item, InputRequest):
                stopping.append(asyncio.create_task(kernel.interrupt()))
    found = Ran(items).ended.stopped_at
    assert found == StoppedAt(2, source="input(name)", inside="input", values=(Held("name", "'x'"),))


async def test_code_of_an_earlier_run_or_of_a_file_is_reported_as_such(kernel: Kernel) -> None:
    number = 1_000
    async for _ in kernel.execute("import time\ndef wait():\n    time.sleep(60)", number=number):
        pass
    found = await stopped(kernel, "wait()")
    assert stopped_line(found) == f"line 3 of run {number} in wait (in time.sleep): time.sleep(60)"
    path = Path(kernel.cwd, "waits.py")
    path.write_text("import time\ndef wait(seconds):\n    time.sleep(seconds)\n")
    found = await stopped(kernel, "import waits\nwaits.wait(60)")
    line = f"line 3 of {path} in wait (in time.sleep): time.sleep(seconds)   (seconds = 60)"
    assert stopped_line(found) == line


async def test_a_run_past_its_time_reports_where_it_stood(kernel: Kernel) -> None:
    run = await ran(kernel, "import time\ntime.sleep(60)", timeout_s=0.5)
    assert run.ended.stopped_at is not None
    assert stopped_line(run.ended.stopped_at) == "line 2 (in time.sleep): time.sleep(60)"


async def test_code_that_fails_by_itself_was_not_stopped(kernel: Kernel) -> None:
    assert (await ran(kernel, "raise KeyboardInterrupt")).ended.stopped_at is None


async def test_code_that_had_to_be_killed_reports_its_line_from_a_sample(kernel: Kernel) -> None:
    code = """
import time
def resist():
    while True:
        try:
            print("on", flush=True)
            time.sleep(60)
        except BaseException:
            pass
resist()
"""
    run = await interrupted_at(kernel, code, "on", times=2)
    assert run.ended.status == "died"
    assert run.ended.stopped_at == StoppedAt(6, "resist", "time.sleep(60)")


async def test_a_sample_that_code_prevents_is_said_to_be_missing(kernel: Kernel) -> None:
    code = """
import signal, time
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
while True:
    try:
        print("on", flush=True)
        time.sleep(60)
    except BaseException:
        pass
"""
    run = await interrupted_at(kernel, code, "on", times=2)
    assert run.ended.stopped_at is None
    assert "The line at which the code stood is not known." in run.ended.note
