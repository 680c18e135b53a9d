"""Where the installer of packages is started: not among files that could tell it another index."""

import asyncio
import os
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from terp.kernels.environments.installing import Installer, pip_shims
from terp.settings.interpreter import Interpreter


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


def own_index(configuration: str, home: Path) -> dict[str, str]:
    """Variables of a person whose index of packages is set as `configuration` says."""
    where, _, option = configuration.partition(": ")
    if where == "variable":
        return dict([option.split("=", 1)])
    file = home / ".config" / where
    file.parent.mkdir(parents=True)
    file.write_text(option.replace("; ", "\n"))
    return {}


PIP_CONF = "pip/pip.conf: [global]; index-url = file:///nowhere"
UV_TOML = 'uv/uv.toml: index-url = "file:///nowhere"'


@pytest.mark.parametrize(
    ("configurations", "program"),
    [
        (["variable: PIP_CONFIG_FILE=/dev/null"], "uv"),
        ([PIP_CONF], "pip"),
        (["pip/pip.conf: [install]; find-links = /wheels"], "pip"),
        (["pip/pip.conf: not a file of pip's"], "pip"),
        (["variable: PIP_INDEX_URL=file:///nowhere"], "pip"),
        ([PIP_CONF, "variable: PIP_CONFIG_FILE=/dev/null"], "uv"),
        ([PIP_CONF, UV_TOML], "uv"),
        ([PIP_CONF, 'uv/uv.toml: [[index]]; url = "file:///nowhere"'], "uv"),
        ([PIP_CONF, 'uv/uv.toml: [pip]; find-links = ["/wheels"]'], "uv"),
        ([PIP_CONF, "uv/uv.toml: offline = true"], "pip"),
        ([PIP_CONF, "variable: UV_INDEX=file:///nowhere"], "uv"),
        ([PIP_CONF, "variable: UV_NO_INDEX=1"], "pip"),
    ],
)
async def test_packages_come_from_the_index_that_is_configured(
    tmp_path: Path, configurations: list[str], program: str
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("uv", "python"):
        (programs / name).write_text(f'#!/bin/sh\necho "$1 $2" >> {tmp_path}/told\n')
        (programs / name).chmod(0o700)
    (tmp_path / "lib/python3/site-packages/pip").mkdir(parents=True)
    environ = {
        "PATH": f"{programs}:/bin:/usr/bin",
        "HOME": str(tmp_path),
        "XDG_CONFIG_DIRS": str(tmp_path / "none"),
    }
    if not any("uv.toml" in one for one in configurations):
        environ["UV_CONFIG_FILE"] = os.devnull
    for one in configurations:
        environ |= own_index(one, tmp_path)
    await Installer(str(programs / "python"), environ).install(["numpy"])
    told = (tmp_path / "told").read_text().splitlines()[-1]
    assert {"pip install": "uv", "-m pip": "pip"}[told] == program


@pytest.mark.parametrize(
    ("configurations", "program"),
    [([], "pip"), ([PIP_CONF], "pip"), ([UV_TOML], "uv"), ([PIP_CONF, UV_TOML], "pip")],
)
def test_the_pip_of_the_code_takes_packages_from_the_index_that_is_configured(
    tmp_path: Path, configurations: list[str], program: str
) -> None:
    (tmp_path / "uv").touch(0o700)
    environ = {"PATH": str(tmp_path), "HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path / "none")}
    if UV_TOML not in configurations:
        environ["UV_CONFIG_FILE"] = os.devnull
    for one in configurations:
        environ |= own_index(one, tmp_path)
    (tmp_path / "lib/python3/site-packages/pip").mkdir(parents=True)
    interpreter = Interpreter(str(tmp_path / "bin/python"), "chosen", packages=str(tmp_path / "packages"))
    script = Path(pip_shims(interpreter, environ, tmp_path / "shims"), "pip").read_text()
    assert (f"exec {tmp_path}/uv pip" in script) == (program == "uv")


CHOOSES = """
import sys
from terp.kernels.environments.installing import installing_program
there = sys.argv[1]
settings = {"PIP_CONFIG_FILE": "/dev/null", "UV_CONFIG_FILE": f"{there}/none"}
installing_program(sys.executable, {"PATH": there, "HOME": there, **settings})
print("tomllib" in sys.modules)
"""


def test_no_parser_is_loaded_where_uv_has_no_configuration(tmp_path: Path) -> None:
    (tmp_path / "uv").touch(0o700)
    command = [sys.executable, "-c", CHOOSES, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


INSTALLS = """
import asyncio, sys
from terp.kernels.environments.installing import Installer
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
    environ = {"PYTHONPATH": str(Path(__file__).parents[4] / "core")}
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
