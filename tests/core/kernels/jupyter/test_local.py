import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from terp.errors import KernelStartFailed, UnknownLanguage
from terp.events.kernel import Kernel, Kernels
from terp.events.outputs import Error
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.jupyter.rundir import RunDir, sweep
from tests.core.kernels.running import PATIENCE_S, Listener, ran

ROOT = Path(__file__).parents[4]


def test_a_language_has_aliases_and_one_kernel(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path), KernelOptions(languages=("python",)))
    assert kernels.languages == ("python",)
    assert {kernels.get(name) for name in ("python", "py", "Python3", " ipython ")} == {kernels.get("python")}
    with pytest.raises(UnknownLanguage, match=r"No kernel here runs 'cobol'. There is: python."):
        kernels.get("cobol")


async def test_a_kernel_that_was_never_used_is_never_started(tmp_path: Path) -> None:
    kernels, listener = LocalKernels(str(tmp_path)), Listener()
    kernels.listen(listener)
    kernel = kernels.get("python")
    assert (kernel.generation, kernel.cwd, kernel.tier) == (0, str(tmp_path), "none")
    await kernel.interrupt()
    assert (await kernel.complete("x", 1), await kernel.variables()) == ((), ())
    await kernels.aclose()
    await kernels.aclose()
    assert listener.states == []


def test_asking_for_a_kernel_imports_nothing_of_jupyter() -> None:
    code = (
        "import sys; from terp.kernels.jupyter.local import LocalKernels; LocalKernels().get('python');"
        "print([m for m in ('zmq', 'jupyter_client', 'IPython', 'ipykernel') if m in sys.modules])"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "core")}
    shown = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
    )
    assert shown.stdout == "[]\n"


async def test_kernels_satisfy_the_protocols_and_stay_ended(tmp_path: Path) -> None:
    kernels: Kernels = LocalKernels(str(tmp_path))
    kernel: Kernel = kernels.get("python")
    await kernels.aclose()
    with pytest.raises(KernelStartFailed, match="were ended"):
        await kernel.start()


async def test_two_callers_share_one_start(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    kernel = kernels.get("python")
    await asyncio.gather(kernel.start(), kernel.start())
    assert kernel.generation == 1
    await kernels.aclose()


async def test_sessions_are_apart(tmp_path: Path) -> None:
    one, two = LocalKernels(str(tmp_path)), LocalKernels(str(tmp_path))
    await asyncio.gather(ran(one.get("python"), "x = 1"), ran(two.get("python"), "y = 1"))
    first, second = await asyncio.gather(
        *(ran(kernels.get("python"), "print('x' in globals())") for kernels in (one, two))
    )
    assert (first.stdout, second.stdout) == ("True\n", "False\n")
    await asyncio.gather(one.aclose(), two.aclose())


@pytest.mark.parametrize(
    ("python", "message", "remedy"),
    [
        ("/nowhere/python", "The kernel cannot be started: .*No such file", "Check --python"),
        ("/bin/false", "The kernel did not start. The kernel ended with exit code 1.", "terp doctor"),
    ],
)
async def test_a_kernel_that_does_not_start_is_told(
    tmp_path: Path, python: str, message: str, remedy: str
) -> None:
    kernels, listener = LocalKernels(str(tmp_path), KernelOptions(python=python)), Listener()
    kernels.listen(listener)
    with pytest.raises(KernelStartFailed, match=message) as caught:
        await ran(kernels.get("python"), "1")
    assert remedy in caught.value.remedy
    assert listener.states == ["starting", "died"]
    await kernels.aclose()


async def test_a_python_without_ipykernel_is_named_with_the_remedy(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    kernels = LocalKernels(
        str(tmp_path), KernelOptions(python=str(bare)), environ={"PATH": os.environ["PATH"]}
    )
    with pytest.raises(KernelStartFailed, match="has no ipykernel") as caught:
        await kernels.get("python").start()
    assert f"{bare} -m pip install ipykernel" in caught.value.remedy
    await kernels.aclose()


async def test_a_kernel_that_never_answers_is_given_up(tmp_path: Path) -> None:
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\nexec sleep 60\n")
    silent.chmod(0o755)
    kernels = LocalKernels(str(tmp_path), KernelOptions(python=str(silent), start_timeout_s=0.3))
    with pytest.raises(KernelStartFailed, match="did not answer"):
        await kernels.get("python").start()
    await kernels.aclose()


async def test_a_slow_start_loses_no_output(tmp_path: Path) -> None:
    slow = tmp_path / "python"
    slow.write_text(f'#!/bin/sh\nsleep 1\nexec "{sys.executable}" "$@"\n')
    slow.chmod(0o755)
    kernels = LocalKernels(str(tmp_path), KernelOptions(python=str(slow)))
    assert (await ran(kernels.get("python"), "print('all there')")).stdout == "all there\n"
    await kernels.aclose()


async def test_closing_ends_the_kernel_its_children_and_its_directory(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    code = """
import os, subprocess
child = subprocess.Popen(["sleep", "300"])
apart = subprocess.Popen(["sleep", "300"], start_new_session=True)
print(os.getpid(), child.pid, apart.pid)
"""
    pids = (await ran(kernels.get("python"), code)).stdout.split()
    processes = [psutil.Process(int(pid)) for pid in pids]
    await kernels.aclose()
    _, survivors = await asyncio.to_thread(psutil.wait_procs, processes, PATIENCE_S)
    assert survivors == []


async def test_what_a_cell_left_open_is_finished_when_the_kernel_is_closed(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    code = """
import atexit
from pathlib import Path

class Farewell:
    def __init__(self):
        self.circle = self
    def __del__(self, write=Path("farewell").write_text):
        write("said")

atexit.register(Path("atexit").write_text, "called")
unclosed = open("unclosed", "w")
_ = unclosed.write("flushed")
held = Farewell()
"""
    await ran(kernels.get("python"), code)
    await kernels.aclose()
    left = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert left == {"atexit": "called", "unclosed": "flushed", "farewell": "said"}


STARTS_AND_WAITS = """
import asyncio, sys
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.jupyter.launch import KernelOptions
from terp.events.outputs import Text

async def main():
    kernel = LocalKernels().get("python")
    async for item in kernel.execute(sys.argv[1]):
        if isinstance(item, Text):
            print(item.text, end="", flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("then", ["time.sleep(300)", "ctypes.PyDLL(None).sleep(300)"])
def test_nothing_survives_when_terp_is_killed(tmp_path: Path, then: str) -> None:
    code = f"""
import ctypes, json, os, subprocess, time
child = subprocess.Popen(["sleep", "300"])
apart = subprocess.Popen(["sleep", "300"], start_new_session=True)
print(json.dumps([os.getpid(), child.pid, apart.pid]), flush=True)
time.sleep(0.3)
{then}
"""
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "core")}
    terp = subprocess.Popen(
        [sys.executable, "-c", STARTS_AND_WAITS, code], env=environ, cwd=tmp_path, stdout=subprocess.PIPE
    )
    assert terp.stdout is not None
    processes = [psutil.Process(pid) for pid in json.loads(terp.stdout.readline())]
    terp.kill()
    terp.wait()
    terp.stdout.close()
    _, survivors = psutil.wait_procs(processes, timeout=PATIENCE_S)
    assert survivors == []


def test_a_directory_left_by_a_killed_terp_is_swept_and_a_live_one_is_not(tmp_path: Path) -> None:
    left = tmp_path / "terp-k-left"
    left.mkdir()
    (left / "lock").touch()
    live = RunDir(tmp_path)
    (tmp_path / "other").mkdir()
    sweep(tmp_path, older_than_s=0)
    assert {path.name for path in tmp_path.iterdir()} == {live.path.name, "other"}
    assert live.path.stat().st_mode & 0o777 == 0o700
    live.close()
    assert not live.path.exists()


def test_socket_paths_stay_short() -> None:
    directory = RunDir()
    assert len(f"{directory.connection_file}-ipc-5") <= 103
    directory.close()


def starting_kernels() -> list[psutil.Process]:
    children = psutil.Process().children()
    return [child for child in children if "ipykernel_launcher" in " ".join(child.cmdline())]


async def test_a_kernel_that_is_closed_while_it_starts_leaves_no_process(tmp_path: Path) -> None:
    kernels, others = LocalKernels(str(tmp_path)), starting_kernels()
    starting = asyncio.create_task(kernels.get("python").start())
    while starting_kernels() == others:  # noqa: ASYNC110  # nothing tells that a process appears
        await asyncio.sleep(0.005)
    await kernels.aclose()
    assert starting_kernels() == others
    with pytest.raises(asyncio.CancelledError):
        await starting


async def test_kernels_that_rested_start_anew_when_they_are_asked_for(tmp_path: Path) -> None:
    kernels, listener = LocalKernels(str(tmp_path)), Listener()
    kernels.listen(listener)
    try:
        await ran(kernels.get("python"), "x = 1")
        rested, again = await kernels.rest(), await kernels.rest()
        outputs = await ran(kernels.get("python"), "x")
    finally:
        await kernels.aclose()
    assert (rested, again) == (("python",), ())
    assert [item.name for item in outputs.items if isinstance(item, Error)] == ["NameError"]
