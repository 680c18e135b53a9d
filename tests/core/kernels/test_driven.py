"""What holds for each language that is driven by a script of its own."""

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import psutil
import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import Error, Omitted, Text
from tests.core.kernels.cells import CELLS, Cells
from tests.core.kernels.driven import DrivenKernels, program_of
from tests.core.kernels.running import PATIENCE_S, interrupted_at, ran, ran_with


@pytest.fixture(scope="module")
async def driven(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[DrivenKernels, None]:
    kernels = DrivenKernels(str(tmp_path_factory.mktemp("driven")))
    yield kernels
    await kernels.aclose()


@pytest.fixture(params=CELLS, ids=lambda cells: cells.driver)
def cells(request: pytest.FixtureRequest) -> Cells:
    found: Cells = request.param
    return found


@pytest.fixture
def kernel(driven: DrivenKernels, cells: Cells) -> Kernel:
    return driven.get(cells.driver)


async def test_variables_stay_and_the_last_value_is_shown(kernel: Kernel, cells: Cells) -> None:
    first, second = await ran(kernel, cells.sets), await ran(kernel, cells.uses)
    assert (first.results, second.results, second.ended.status) == ([], [cells.shown], "ok")


async def test_the_streams_are_kept_apart(kernel: Kernel, cells: Cells) -> None:
    run = await ran(kernel, cells.prints)
    assert (run.stdout, run.stderr) == ("out\n", "err\n")


async def test_an_error_has_its_class_its_message_and_no_line_of_the_driver(
    kernel: Kernel, cells: Cells
) -> None:
    run = await ran(kernel, cells.fails)
    error = next(item for item in run.items if isinstance(item, Error))
    own = [line for line in error.traceback if "terp" in line.casefold()]
    assert (run.error, own, run.ended.status) == (cells.failed, [], "error")


async def test_code_that_cannot_be_read_is_an_error_and_costs_nothing(kernel: Kernel, cells: Cells) -> None:
    await ran(kernel, cells.sets)
    unread, then = await ran(kernel, cells.unreadable), await ran(kernel, cells.uses)
    assert (unread.ended.status, bool(unread.error), then.results) == ("error", True, [cells.shown])


async def test_an_interrupt_keeps_the_variables(kernel: Kernel, cells: Cells) -> None:
    await ran(kernel, cells.sets)
    stopped = await interrupted_at(kernel, cells.loops, "on")
    assert (stopped.ended.status, (await ran(kernel, cells.uses)).results) == ("interrupted", [cells.shown])


async def test_it_can_be_interrupted_again_and_again(kernel: Kernel, cells: Cells) -> None:
    await ran(kernel, cells.sets)
    stopped = [await interrupted_at(kernel, cells.loops, "on") for _ in range(3)]
    then = await ran(kernel, cells.uses)
    ends = [(run.ended.status, run.ended.note) for run in stopped]
    assert (ends, then.error, then.results) == ([("interrupted", "")] * 3, "", [cells.shown])


async def test_a_line_that_code_reads_is_asked_of_the_person(kernel: Kernel, cells: Cells) -> None:
    run = await ran_with(kernel, cells.asks, "Ada")
    assert (run.stdout.strip(), run.ended.status) == ("hi Ada", "ok")


async def test_the_end_of_the_input_is_told_to_code_that_reads(kernel: Kernel, cells: Cells) -> None:
    assert (await ran_with(kernel, cells.reads, None)).stdout == f"{cells.nothing}\n"


async def test_the_end_of_the_program_is_told_and_the_next_cell_runs(kernel: Kernel, cells: Cells) -> None:
    await kernel.start()
    before = kernel.generation
    run = await ran(kernel, cells.leaves)
    assert (run.error, "are lost" in run.ended.note, kernel.generation) == (cells.left, True, before + 1)
    await ran(kernel, cells.sets)
    assert (await ran(kernel, cells.uses)).results == [cells.shown]


async def test_umlauts_and_the_like_survive(kernel: Kernel, cells: Cells) -> None:
    # Within its quotes: `System.out` stays what it is.
    said = re.sub(r"(?<=['\"])out", "ü € 😀", cells.prints)
    run = await ran(kernel, said)
    assert (run.stdout.strip(), run.ended.status) == ("ü € 😀", "ok")


async def test_code_with_a_nul_is_refused_in_words(kernel: Kernel) -> None:
    assert (await ran(kernel, "1\0")).error == "ValueError The code holds a NUL character."


async def test_partial_lines_are_seen_at_once(driven: DrivenKernels) -> None:
    run = await ran(driven.get("ruby"), "print 'a'; sleep 0.3; print 'b'")
    assert [item.text for item in run.items if isinstance(item, Text)] == ["a", "b"]


async def test_a_flood_arrives_whole(driven: DrivenKernels) -> None:
    run = await ran(driven.get("ruby"), "20_000.times { |i| puts i; $stdout.flush }")
    assert run.stdout == "".join(f"{number}\n" for number in range(20_000))


async def test_a_giant_value_comes_soon_and_is_cut_with_a_count(driven: DrivenKernels) -> None:
    run = await ran(driven.get("perl"), "'x' x 40_000_000")
    assert [len(shown) for shown in run.results] == [4_000_000]
    assert Omitted(36_000_002, 0, spooled=False) in run.items


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("ruby", "pid = fork; puts pid ? 'parent' : 'child'; Process.wait(pid) if pid; nil"),
        ("perl", "my $pid = fork(); print $pid ? 'parent' : 'child', \"\\n\"; waitpid($pid, 0) if $pid;"),
        (
            "php",
            '$pid = pcntl_fork(); echo ($pid ? "parent\\n" : "child\\n"); if ($pid) pcntl_wait($status);',
        ),
    ],
)
async def test_a_process_that_a_cell_forks_ends_with_the_cell(
    driven: DrivenKernels, name: str, code: str
) -> None:
    run = await ran(driven.get(name), code)
    assert (sorted(run.stdout.split()), run.ended.status) == (["child", "parent"], "ok")


async def test_the_directory_that_code_goes_to_is_where_its_files_are_looked_for(
    driven: DrivenKernels,
) -> None:
    run = await ran(driven.get("ruby"), "Dir.mkdir('sub'); Dir.chdir('sub'); File.write('made', '1')")
    assert f"{driven.cwd}/sub/made" in [change.path for change in run.ended.files]


async def test_code_that_cannot_be_interrupted_is_ended_and_that_is_said(driven: DrivenKernels) -> None:
    run = await interrupted_at(driven.get("ruby"), "trap('INT') {}\nputs 'on'\nloop { }", "on")
    assert (run.ended.status, run.ended.note.partition(":")[0]) == (
        "interrupted",
        "Ruby was ended by SIGKILL",
    )


async def test_output_goes_on_after_an_interrupt_in_the_middle_of_it(driven: DrivenKernels) -> None:
    kernel = driven.get("javascript")
    for _ in range(5):
        await interrupted_at(kernel, 'while (true) console.log("on")', "on")
    assert (await ran(kernel, 'console.log("still")')).stdout == "still\n"


RUNS_FOR_EVER = """
import asyncio, sys
from terp.kernels.jupyter.local import LocalKernels

async def main():
    async for item in LocalKernels(".").get("ruby").execute(sys.argv[1]):
        print(getattr(item, "text", ""), end="", flush=True)

asyncio.run(main())
"""


def test_no_program_survives_when_terp_is_killed(tmp_path: Path) -> None:
    if not program_of("ruby"):
        pytest.skip("no program for ruby")
    code = "require 'json'; child = spawn('sleep 300'); puts JSON.dump([$$, Process.ppid, child]); loop { }"
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "core")}
    terp = subprocess.Popen(
        [sys.executable, "-c", RUNS_FOR_EVER, code], env=environ, cwd=tmp_path, stdout=subprocess.PIPE
    )
    assert terp.stdout is not None
    line = next(line for line in iter(terp.stdout.readline, b"") if line.strip())
    processes = [psutil.Process(pid) for pid in json.loads(line)]
    terp.kill()
    terp.wait()
    terp.stdout.close()
    _, survivors = psutil.wait_procs(processes, timeout=PATIENCE_S)
    assert survivors == []
