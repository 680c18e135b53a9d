"""The shell kernel with zsh in it, and which shell it is."""

import os
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.events.kernel import Kernel, Variable
from terp.events.outputs import InputRequest
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.runtimes.runtime import Machine
from terp.kernels.runtimes.shell import find_shell
from tests.core.kernels.running import interrupted_at, ran, ran_with

needs_zsh = pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")


@pytest.fixture
async def zsh(tmp_path: Path) -> AsyncGenerator[Kernel, None]:
    kernels = LocalKernels(str(tmp_path), KernelOptions(shell="zsh"))
    yield kernels.get("shell")
    await kernels.aclose()


@needs_zsh
async def test_zsh_keeps_its_state_and_knows_its_own_words(zsh: Kernel) -> None:
    await ran(zsh, "x=5; cd /; f() { print in f }; list=(a b)")
    run = await ran_with(
        zsh, "print $x $PWD ${list[1]} ${(U)x:-up}; f; echo 'a!b'; read 'y?y: '; print got $y", "z"
    )
    assert (run.stdout, run.questions) == ("5 / a 5\nin f\na!b\ngot z\n", [InputRequest("")])


@needs_zsh
async def test_zsh_tells_its_exit_status_and_is_replaced_when_it_ends(zsh: Kernel) -> None:
    assert (await ran(zsh, "(exit 3)")).error == "ExitStatus 3"
    assert (await ran(zsh, "echo $?")).stdout == "3\n"
    run = await ran(zsh, "exit 4")
    assert (run.error, "exit status 4" in run.ended.note) == ("ExitStatus 4", True)
    assert (await ran(zsh, "echo fine")).stdout == "fine\n"


@needs_zsh
async def test_zsh_is_interrupted_and_keeps_its_state(zsh: Kernel) -> None:
    await ran(zsh, "kept=1")
    run = await interrupted_at(zsh, "sh -c 'echo begun; exec sleep 60'; echo not this", "begun")
    assert (run.ended.status, run.stdout) == ("interrupted", "begun\n")
    assert (await ran(zsh, "echo $kept")).stdout == "1\n"


@needs_zsh
async def test_zsh_completes_and_lists_variables(zsh: Kernel) -> None:
    await ran(zsh, "my_word=1; my_function() { : }")
    completed = [await zsh.complete(code, len(code)) for code in ("my_f", "echo $my_w", "ls /us")]
    assert completed == [("my_function",), ("$my_word",), ("/usr/",)]
    assert await zsh.variables() == (
        Variable("my_function", "function"),
        Variable("my_word", "str", head="1"),
    )


def test_the_shell_is_bash_else_the_persons_zsh_or_what_was_chosen(tmp_path: Path) -> None:
    bash, zsh, fish = (str(tmp_path / name) for name in ("bash", "zsh", "fish"))
    for path in (zsh, fish):
        Path(path).touch(0o700)
    environ = {"PATH": str(tmp_path), "SHELL": zsh}
    assert find_shell(Machine(environ)) == zsh
    assert find_shell(Machine({**environ, "SHELL": fish})) == ""
    Path(bash).touch(0o700)
    found = [find_shell(Machine(environ, shell=chosen)) for chosen in ("", "zsh", zsh, "fish", "no-such")]
    assert found == [bash, zsh, zsh, "", ""]


async def test_without_a_shell_none_is_offered(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path), environ={**os.environ, "PATH": str(tmp_path), "SHELL": ""})
    assert "shell" not in kernels.languages
