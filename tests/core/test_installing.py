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
