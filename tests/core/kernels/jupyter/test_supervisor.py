"""What owns a kernel, and what ends with it."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from terp.events.kernel import Kernel
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.jupyter.orphans import lifeline, supervised
from tests.core.kernels.jupyter.test_local import STARTS_AND_WAITS
from tests.core.kernels.running import PATIENCE_S, ran

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")

ROOT = Path(__file__).parents[4]
# Nothing ties it to the kernel any more: no parent, no session, no group, no environment, no directory.
DAEMON = """
import os, subprocess
os.path.exists("pid") or os.mkfifo("pid")
leave = "exec >/dev/null 2>&1; cd /; exec setsid -f env -i sh -c 'echo $$ > {pid}; exec sleep 300'"
subprocess.run(leave.format(pid=os.path.abspath("pid")), shell=True)
pid = int(open("pid").read())
"""


def still_there(pids: Sequence[int]) -> list[int]:
    """Those that live on, once all had time to end."""
    found = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    return [process.pid for process in psutil.wait_procs(found, PATIENCE_S)[1]]


def test_a_daemon_without_a_trace_of_its_origin_ends_with_a_killed_terp(tmp_path: Path) -> None:
    code = DAEMON + "print(os.getpid(), pid, flush=True)\nimport time; time.sleep(300)"
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "core")}
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_AND_WAITS, code], env=environ, cwd=tmp_path, stdout=subprocess.PIPE
    ) as terp:
        assert terp.stdout is not None
        pids = [int(word) for word in terp.stdout.readline().split()]
        terp.kill()
    assert still_there(pids) == []


async def test_a_daemon_without_a_trace_of_its_origin_ends_with_its_kernel(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    pid = int((await ran(kernels.get("python"), f"{DAEMON}print(pid)")).stdout)
    await kernels.aclose()
    assert await asyncio.to_thread(still_there, [pid]) == []


async def test_what_a_kernel_that_died_has_left_is_ended(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    try:
        run = await ran(kernels.get("python"), f"{DAEMON}open('noted', 'x').write(str(pid))\nos._exit(3)")
        assert "exit code 3" in run.ended.note
        assert await asyncio.to_thread(still_there, [int((tmp_path / "noted").read_text())]) == []
    finally:
        await kernels.aclose()


async def test_code_that_ends_its_parent_politely_is_not_heard(kernel: Kernel) -> None:
    code = "import os, signal\nfor one in (1, 2, 15): os.kill(os.getppid(), one)\nprint('on')"
    await kernel.start()
    generation = kernel.generation
    assert (await ran(kernel, code)).stdout == "on\n"
    assert (await ran(kernel, "print('still')")).stdout == "still\n"
    assert kernel.generation == generation


async def test_a_kernel_whose_supervisor_is_killed_is_ended_and_that_is_told(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    try:
        note = "import os, time\nopen('noted', 'x').write(str(os.getpid()))\n"
        run = await ran(kernels.get("python"), f"{note}os.kill(os.getppid(), 9)\ntime.sleep(300)")
        assert (run.ended.status, "SIGKILL" in run.ended.note) == ("died", True)
        assert await asyncio.to_thread(still_there, [int((tmp_path / "noted").read_text())]) == []
    finally:
        await kernels.aclose()


def ended(command: Sequence[str]) -> tuple[int, bytes]:
    with lifeline() as stdin:
        ran = subprocess.run(supervised(command), stdin=stdin, stdout=subprocess.PIPE, check=False)
    return ran.returncode, ran.stdout


@pytest.mark.parametrize(
    ("ending", "code"),
    [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", -15), ("kill -KILL $$", -9), ("kill -SEGV $$", -11)],
)
def test_it_ends_as_the_command_did(ending: str, code: int) -> None:
    assert ended(["sh", "-c", ending]) == (code, b"")


def test_a_command_finds_the_signals_and_the_descriptors_that_it_would_find_without_it() -> None:
    command = [sys.executable, "-c", LOOK]
    alone = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
    assert json.loads(ended(command)[1]) == json.loads(alone)


LOOK = """
import json, os
status = dict(line.split(":") for line in open("/proc/self/status"))
# The C library keeps two more for itself.
masks = [int(status[name], 16) & 0x7FFFFFFF for name in ("SigIgn", "SigBlk")]
print(json.dumps([masks, sorted(os.listdir("/proc/self/fd"))]))
"""


def test_a_command_that_is_not_there_ends_with_127_and_a_line() -> None:
    with lifeline() as stdin:
        ran = subprocess.run(supervised(["no-such-thing"]), stdin=stdin, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (
        127,
        b"no-such-thing cannot be started: No such file or directory\n",
    )


def test_the_end_of_its_line_ends_the_command_removes_the_directory_and_runs_what_is_to_follow(
    tmp_path: Path,
) -> None:
    own, told = tmp_path / "own", tmp_path / "told"
    own.mkdir()
    command = supervised(
        ["sh", "-c", "echo on; exec sleep 300"], str(own), ["sh", "-c", f"echo over > {told}"]
    )
    with lifeline() as stdin:
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"on\n"
    with process:
        assert process.stdout.read() == b""
    assert (own.exists(), told.read_text()) == (False, "over\n")
