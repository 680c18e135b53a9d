"""A kernel that outlives the terp that had it, and the terp that finds it again."""

import json
import os
import subprocess
import sys
from pathlib import Path

import terp
from terp.kernels.jupyter.launch import KernelOptions
from tests.core.kernels.remote.connecting import connected
from tests.core.kernels.remote.servers import TOKEN, Server
from tests.core.kernels.running import Listener, ran

KEEP = KernelOptions(keep=True)
# Runs code, and is killed in the middle of more.
KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from terp.settings.gateway import Gateway, Token
from terp.kernels.remote.claims import Claims
from terp.kernels.remote.kernels import GatewayKernels, Origin

async def main(url, folder):
    gateway = Gateway(url, Token(sys.argv[3], "$JUPYTER_TOKEN"))
    kernels = await GatewayKernels.connect(
        gateway, Claims(folder, url), Origin(".", folder)
    )
    kernel = kernels.get("python")
    async for _ in kernel.execute("kept = 41"):
        pass
    code = "import time; print('on', flush=True); time.sleep(0.5); kept += 1; print('late')"
    async for item in kernel.execute(code):
        if "on" in str(item):
            os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
"""


def killed_in_a_run(server: Server, folder: Path) -> None:
    """A process that is killed while its code runs at the server."""
    command = [sys.executable, "-c", KILLED, server.url, str(folder), TOKEN]
    environ = {**os.environ, "PYTHONPATH": str(Path(terp.__file__).parent.parent)}
    killed = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert killed.returncode == -9, killed.stderr


async def test_another_process_finds_the_kernel_of_one_that_was_killed(
    server: Server, tmp_path: Path
) -> None:
    killed_in_a_run(server, tmp_path)
    kernels = await connected(server, tmp_path)
    try:
        assert kernels.resumed
        assert (await ran(kernels.get("python"), "kept")).results == ["42"]
    finally:
        await kernels.aclose()


async def test_a_kernel_that_is_to_be_kept_lives_on(a_jupyter_server: Server, tmp_path: Path) -> None:
    first = await connected(a_jupyter_server, tmp_path, KEEP)
    await ran(first.get("python"), "kept = 42")
    await first.aclose()
    second = await connected(a_jupyter_server, tmp_path)
    assert (await ran(second.get("python"), "kept")).results == ["42"]
    await second.aclose()


async def test_what_code_had_called_home_works_for_who_comes_back(
    a_jupyter_server: Server, tmp_path: Path
) -> None:
    first = await connected(a_jupyter_server, tmp_path, KEEP)
    await ran(first.get("python"), "import terp_home")
    await first.aclose()
    second = await connected(a_jupyter_server, tmp_path)
    try:
        kernel = second.get("python")
        items = []
        async for item in kernel.execute("terp_home.call('service', value=1)"):
            items.append(item)
            if type(item).__name__ == "BackCall":
                await kernel.answer("answered")
        assert "'answered'" in str(items)
    finally:
        await second.aclose()


async def test_a_kernel_that_has_ended_meanwhile_is_replaced(
    a_jupyter_server: Server, tmp_path: Path
) -> None:
    first = await connected(a_jupyter_server, tmp_path, KEEP)
    await ran(first.get("python"), "kept = 42")
    await first.aclose()
    kernel_id = json.loads((tmp_path / "kernels.json").read_text())["kernels"]["python"]
    a_jupyter_server.asked(f"kernels/{kernel_id}", "DELETE")
    second = await connected(a_jupyter_server, tmp_path)
    assert not second.resumed
    assert (await ran(second.get("python"), "'kept' in dir()")).results == ["False"]
    await second.aclose()


async def test_a_session_that_goes_on_hears_that_its_kernel_is_ready(
    a_jupyter_server: Server, tmp_path: Path
) -> None:
    first = await connected(a_jupyter_server, tmp_path, KEEP)
    await first.get("python").start()
    await first.aclose()
    second, heard = await connected(a_jupyter_server, tmp_path), Listener()
    second.listen(heard)
    await second.get("python").start()
    await second.aclose()
    assert heard.states == ["starting", "ready", "stopped"]
