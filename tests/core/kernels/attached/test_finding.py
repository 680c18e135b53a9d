"""Which running kernel is meant."""

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from terp.errors import KernelStartFailed, SettingsError
from terp.kernels.attached.attachment import ConnectionFile, named, read, runtime_folder, written
from terp.kernels.attached.finding import find_attachment
from terp.kernels.attached.kernel import lives, owner_of
from tests.core.kernels.attached.foreign import ForeignKernel

CHANNELS = ("shell", "iopub", "stdin", "control", "hb")


def connection(path: Path, port: int = 1, **facts: object) -> Path:
    """A connection file whose channels are all at one port."""
    told = {f"{channel}_port": port for channel in CHANNELS}
    path.write_text(json.dumps({**told, "transport": "tcp", "ip": "127.0.0.1", "key": "k", **facts}))
    return path


def test_a_file_is_read_without_its_key(tmp_path: Path) -> None:
    path = connection(tmp_path / "kernel-ab.json", kernel_name="ir", jupyter_session="/w/plots.ipynb")
    ports = dict.fromkeys(CHANNELS, 1)
    file = read(path)
    assert file == ConnectionFile(str(path), "tcp", "127.0.0.1", ports, "ir", "/w/plots.ipynb")
    assert (file.name, file.title, file.address("hb")) == ("ab", "plots.ipynb", "tcp://127.0.0.1:1")


def test_sockets_in_a_folder_have_another_address(tmp_path: Path) -> None:
    file = read(connection(tmp_path / "c.json", transport="ipc", ip="/run/k/c-ipc"))
    assert file.address("shell") == "ipc:///run/k/c-ipc-1"


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"JUPYTER_RUNTIME_DIR": "/r"}, "/r"),
        ({"JUPYTER_DATA_DIR": "/d"}, "/d/runtime"),
        ({"XDG_DATA_HOME": "/x"}, "/x/jupyter/runtime"),
    ],
)
def test_the_folder_is_the_one_that_jupyter_writes_to(environ: Mapping[str, str], folder: str) -> None:
    assert runtime_folder(environ) == Path(folder)


def test_a_kernel_has_many_names(tmp_path: Path) -> None:
    environ = {"JUPYTER_RUNTIME_DIR": str(tmp_path)}
    file = connection(
        tmp_path / "kernel-0a1b2c3d-e4.json", jupyter_session="/w/plots.ipynb", kernel_name="ir"
    )
    (tmp_path / "jpserver-77.json").write_text('{"port": 8888}')
    for name in ("0a1b2c3d-e4", "0a1b", "kernel-0a1b2c3d-e4.json", "plots.ipynb", "plots", "ir", "newest"):
        assert [found.path for found in named(name, environ, "/")] == [str(file)]


def test_a_notebook_on_disk_names_its_kernel(tmp_path: Path) -> None:
    runtime, work = tmp_path / "runtime", tmp_path / "my work"
    runtime.mkdir()
    work.mkdir()
    (work / "plots.ipynb").write_text("{}")
    file = connection(runtime / "kernel-ab.json", jupyter_session=f"{work}/plots.ipynb")
    environ = {"JUPYTER_RUNTIME_DIR": str(runtime)}
    for target, cwd in (
        ("plots.ipynb", work),
        ("my work/plots.ipynb", tmp_path),
        ("../my work/plots.ipynb", runtime),
    ):
        assert [found.path for found in named(target, environ, str(cwd))] == [str(file)]


def test_of_notebooks_with_one_name_the_given_path_counts(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plots.ipynb").write_text("{}")
        connection(tmp_path / f"kernel-{name}.json", jupyter_session=f"{tmp_path}/{name}/plots.ipynb")
    environ = {"JUPYTER_RUNTIME_DIR": str(tmp_path)}
    assert [file.name for file in named("a/plots.ipynb", environ, str(tmp_path))] == ["a"]
    assert [file.name for file in named("plots.ipynb", environ, str(tmp_path / "b"))] == ["b"]
    assert {file.name for file in named("plots.ipynb", environ, "/")} == {"a", "b"}


def test_the_newest_comes_first(tmp_path: Path) -> None:
    for age, name in ((30, "kernel-old.json"), (10, "kernel-new.json"), (20, "kernel-middle.json")):
        os.utime(connection(tmp_path / name), (1_000_000 - age, 1_000_000 - age))
    found = written({"JUPYTER_RUNTIME_DIR": str(tmp_path)})
    assert [file.name for file in found] == ["new", "middle", "old"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is no connection file of Jupyter"),
        ('{"shell_port": 1}', "is no connection file of Jupyter"),
        ("[]", "is no connection file of Jupyter"),
        ("\x00\xff", "is no connection file of Jupyter"),
    ],
)
async def test_a_file_that_is_no_connection_file_is_told_with_the_remedy(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(SettingsError, match=told) as caught:
        await find_attachment("bad.json", {}, str(tmp_path))
    assert "%connect_info" in caught.value.message


async def test_a_name_that_nothing_has_is_told(tmp_path: Path) -> None:
    environ = {"JUPYTER_RUNTIME_DIR": str(tmp_path)}
    with pytest.raises(SettingsError, match=r"there is no connection file 'gone\.json', and none called"):
        await find_attachment("gone.json", environ, "/")


async def test_without_a_running_kernel_it_is_told_how_to_get_one(tmp_path: Path) -> None:
    connection(tmp_path / "kernel-1.json")
    with pytest.raises(KernelStartFailed, match="No kernel runs whose connection file is in") as caught:
        await find_attachment("newest", {"JUPYTER_RUNTIME_DIR": str(tmp_path)}, "/")
    assert "terp attach FILE" in caught.value.remedy


async def test_a_dead_kernel_is_told_with_those_that_run(
    foreign: ForeignKernel, environ: Mapping[str, str], tmp_path: Path
) -> None:
    dead = connection(tmp_path / "kernel-dead.json")
    with pytest.raises(KernelStartFailed, match="it has ended, or is out of reach") as caught:
        await find_attachment(str(dead), environ, "/")
    assert caught.value.remedy == "These run: feedbeef."


async def test_a_wrong_key_is_told(
    foreign: ForeignKernel, environ: Mapping[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "kernel-stolen.json"
    path.write_text(json.dumps({**json.loads(foreign.file.read_text()), "key": "guessed"}))
    with pytest.raises(KernelStartFailed, match=r"runs, but does not answer: .* has another key"):
        await find_attachment(str(path), environ, "/")


async def test_of_several_the_newest_is_taken_and_the_others_are_named(
    foreign: ForeignKernel, environ: Mapping[str, str]
) -> None:
    folder = Path(environ["JUPYTER_RUNTIME_DIR"])
    with ForeignKernel(folder, "kernel-later") as later:
        found = await find_attachment("newest", environ, "/")
        assert (found.attachment.file.path, found.others) == (str(later.file), ("feedbeef",))
        assert (found.attachment.language, found.attachment.cwd) == ("python", str(folder))
    later.file.unlink()


def test_the_process_of_a_kernel_is_found(foreign: ForeignKernel) -> None:
    assert owner_of(read(foreign.file)) == foreign.process.pid
    assert lives(foreign.process.pid)


def test_the_mouth_of_a_tunnel_is_not_taken_for_the_kernel(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        file = connection(tmp_path / "kernel-far-away.json", port=listening.getsockname()[1])
        assert owner_of(read(file)) == 0


def test_an_address_of_another_machine_has_no_process_here(tmp_path: Path) -> None:
    assert owner_of(read(connection(tmp_path / "kernel-1.json", ip="192.0.2.1"))) == 0
