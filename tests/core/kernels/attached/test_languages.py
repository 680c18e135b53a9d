"""A kernel of another language than Python that somebody else has started."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from terp.errors import UnknownLanguage
from terp.events.outputs import RunEnded, RunStarted, Text
from terp.kernels.attached.finding import find_attachment
from terp.kernels.jupyter.launch import host_argv
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.running import interrupted_at, ran

LOGO = """
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

class Logo(Kernel):
    implementation, implementation_version, banner = "logo", "1", ""
    language_info = {"name": "Logo", "version": "3.2", "mimetype": "text/x-logo", "file_extension": ".logo"}

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False):
        if not silent:
            content = {"name": "stdout", "text": f"turtle: {code}"}
            self.send_response(self.iopub_socket, "stream", content)
        return {"status": "ok", "execution_count": self.execution_count, "payload": []}

IPKernelApp.launch_instance(kernel_class=Logo)
"""


def started(argv: list[str], file: Path) -> "subprocess.Popen[bytes]":
    argv = [part.replace("{connection_file}", str(file)) for part in argv]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(argv, cwd=file.parent, stdout=quiet, stderr=quiet, start_new_session=True)


@pytest.fixture
def logo(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "kernel-turtle.json"
    kernel = started([sys.executable, "-c", LOGO, "-f", "{connection_file}"], file)
    yield file
    kernel.kill()
    kernel.wait()


@pytest.fixture
def bash(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "kernel-shell.json"
    kernel = started(list(host_argv("shell")), file)
    yield file
    kernel.kill()
    kernel.wait()


async def attached(kernels: LocalKernels, file: Path) -> str:
    """Attach to a kernel that comes up just now; the language."""
    async with asyncio.timeout(30):
        while not (file.exists() and file.read_text().endswith("}")):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return await kernels.attach((await find_attachment(str(file), os.environ, "/")).attachment)


async def test_a_language_that_terp_does_not_know_is_the_default(logo: Path, tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    assert await attached(kernels, logo) == "logo"
    assert kernels.languages[:2] == ("logo", "python")
    run = await ran(kernels.get("logo"), "fd 10")
    assert run.items == [RunStarted(1), Text("stdout", "turtle: fd 10"), RunEnded("ok")]
    await kernels.aclose()


async def test_a_conversation_that_has_begun_takes_no_new_language(logo: Path, tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    assert "python" in kernels.languages
    with pytest.raises(UnknownLanguage, match=r"kernel-turtle\.json runs logo, and this") as caught:
        await attached(kernels, logo)
    assert caught.value.remedy == "terp attach turtle begins one with it."
    await kernels.aclose()


async def test_a_shell_takes_the_place_of_ours_and_is_interrupted(bash: Path, tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    assert await attached(kernels, bash) == "shell"
    shell = kernels.get("shell")
    run = await interrupted_at(shell, "echo on; sleep 60", "on")
    assert run.ended.status == "interrupted"
    after = await ran(shell, "echo $((6 * 7))")
    assert (after.stdout, after.ended.status) == ("42\n", "ok")
    await kernels.aclose()
