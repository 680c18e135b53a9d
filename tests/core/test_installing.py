"""Where the installer of packages is started: not among files that could tell it another index."""

import asyncio
import os
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from terp.installing import Installer


async def test_uv_is_started_outside_of_the_directory_and_finds_files_of_it_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv, told = tmp_path / "bin/uv", tmp_path / "told"
    uv.parent.mkdir()
    uv.write_text(f'#!/bin/sh\npwd > {told}\nfor last; do :; done\necho "$last" >> {told}\n')
    uv.chmod(uv.stat().st_mode | stat.S_IXUSR)
    project = tmp_path / "project"
    project.mkdir()
    (project / "uv.toml").write_text('index-url = "http://evil"\n')
    (project / "own.whl").touch()
    monkeypatch.chdir(project)
    installer = Installer("/usr/bin/python3", {"PATH": f"{uv.parent}:/bin:/usr/bin"})
    await installer.install(["./own.whl"])
    assert told.read_text() == f"/\n{project}/own.whl\n"


INSTALLS = """
import asyncio, sys
from terp.installing import Installer
asyncio.run(Installer("/usr/bin/python3", {"PATH": sys.argv[1]}).install(["numpy"]))
"""


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """The folder of an installer without end, which first tells its process and that of a child."""
    os.mkfifo(tmp_path / "pids")
    uv = tmp_path / "bin/uv"
    uv.parent.mkdir()
    uv.write_text(f"#!/bin/sh\nsleep 300 &\necho $$ $! > {tmp_path}/pids\nwait\n")
    uv.chmod(uv.stat().st_mode | stat.S_IXUSR)
    return tmp_path


def pids_of(slow: Path) -> list[psutil.Process]:
    return [psutil.Process(int(word)) for word in (slow / "pids").read_text().split()]


def test_an_installer_ends_with_a_killed_terp(slow: Path) -> None:
    environ = {"PYTHONPATH": str(Path(__file__).parents[2] / "core")}
    with subprocess.Popen([sys.executable, "-c", INSTALLS, f"{slow}/bin:/bin:/usr/bin"], env=environ) as terp:
        installer = pids_of(slow)
        terp.kill()
    assert psutil.wait_procs(installer, 30)[1] == []


async def test_an_installer_ends_when_nobody_wants_it_any_more(slow: Path) -> None:
    installing = asyncio.create_task(
        Installer("/usr/bin/python3", {"PATH": f"{slow}/bin:/bin:/usr/bin"}).install(["numpy"])
    )
    installer = await asyncio.to_thread(pids_of, slow)
    installing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await installing
    assert psutil.wait_procs(installer, 30)[1] == []


def test_the_command_to_try_by_hand_is_one_that_a_shell_reads_as_it_is_meant() -> None:
    installer = Installer("/my env/bin/python", {}, target="/a b")
    told = installer.by_hand(["numpy>=2", "rich[jupyter]"])
    assert told == "'/my env/bin/python' -m pip install --target '/a b' 'numpy>=2' 'rich[jupyter]'"
