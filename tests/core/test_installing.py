"""Where the installer of packages is started: not among files that could tell it another index."""

import stat
from pathlib import Path

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


def test_the_command_to_try_by_hand_is_one_that_a_shell_reads_as_it_is_meant() -> None:
    installer = Installer("/my env/bin/python", {}, target="/a b")
    told = installer.by_hand(["numpy>=2", "rich[jupyter]"])
    assert told == "'/my env/bin/python' -m pip install --target '/a b' 'numpy>=2' 'rich[jupyter]'"
