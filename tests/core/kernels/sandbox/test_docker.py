"""There is no daemon here: a program in its place writes down how it is called."""

from itertools import pairwise
from pathlib import Path

import pytest

from terp.errors import KernelStartFailed
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.docker import find_docker
from terp.kernels.sandbox.policy import ResourceLimits, SandboxOptions

RECORDING = """#!/bin/sh
[ "$1" = version ] && { echo 27.0; exit; }
[ "$1" = run ] && printf '%s\\n' "$@" >{calls} && echo "SOME_VALUE=$SOME_VALUE" >{calls}.env
[ "$1" = rm ] && printf '%s\\n' "$@" >{calls}.rm
exit 1
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    program = tmp_path / "bin" / "docker"
    program.parent.mkdir()
    program.write_text(RECORDING.replace("{calls}", str(tmp_path / "calls")))
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(tmp_path), "SOME_VALUE": "sesame"}


async def called(tmp_path: Path, environ: dict[str, str], options: SandboxOptions) -> list[str]:
    """The arguments with which a kernel is started."""
    confinement = Confinement(options, str(tmp_path), environ)
    kernel_options = KernelOptions(env_pass=("SOME_VALUE",))
    kernels = LocalKernels(str(tmp_path), kernel_options, environ=environ, confinement=confinement)
    with pytest.raises(KernelStartFailed):
        await kernels.get("python").start()
    await kernels.aclose()
    return (tmp_path / "calls").read_text().splitlines()


def after(arguments: list[str], flag: str) -> list[str]:
    return [value for name, value in pairwise(arguments) if name == flag]


async def test_a_container_is_limited_and_gone_at_its_end(tmp_path: Path, environ: dict[str, str]) -> None:
    limits = ResourceLimits(memory_mb=2_000, processes=99)
    arguments = await called(
        tmp_path, environ, SandboxOptions("docker", network=False, limits=limits, image="mine")
    )
    flags = ("--memory", "--cpus", "--pids-limit", "--network", "--cap-drop")
    assert [after(arguments, flag) for flag in flags] == [["2000m"], ["2"], ["99"], ["none"], ["ALL"]]
    assert ("--rm" in arguments, "mine" in arguments) == (True, True)
    assert ":" in after(arguments, "--user")[0]


async def test_only_the_project_and_what_a_kernel_needs_is_in_it(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    arguments = await called(tmp_path, environ, SandboxOptions("docker"))
    volumes = after(arguments, "--volume")
    assert f"{tmp_path}:{tmp_path}" in volumes
    assert [volume for volume in volumes if volume.startswith(("/:", "/home", "/etc"))] == []


async def test_values_of_variables_are_not_in_its_arguments(tmp_path: Path, environ: dict[str, str]) -> None:
    arguments = await called(tmp_path, environ, SandboxOptions("docker"))
    assert "SOME_VALUE" in after(arguments, "--env")
    assert [argument for argument in arguments if "sesame" in argument] == []
    assert (tmp_path / "calls.env").read_text() == "SOME_VALUE=sesame\n"


async def test_a_container_that_its_client_left_is_removed(tmp_path: Path, environ: dict[str, str]) -> None:
    arguments = await called(tmp_path, environ, SandboxOptions("docker"))
    removed = (tmp_path / "calls.rm").read_text().splitlines()
    assert removed == ["rm", "--force", *after(arguments, "--name")]


def test_without_a_daemon_there_is_no_such_tier(tmp_path: Path, environ: dict[str, str]) -> None:
    Path(tmp_path, "bin", "docker").write_text("#!/bin/sh\nexit 1\n")
    assert find_docker(environ) is None
