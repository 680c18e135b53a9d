"""Commands on where code runs."""

from pathlib import Path

import pytest

from terp.errors import SettingsError, TerpError
from terp.kernels.jupyter.local import LocalKernels
from terp.session.attaching import Attaching
from tests.cli.repl.commands.here import Here
from tests.core.kernels.attached.test_finding import connection


@pytest.fixture
def here(tmp_path: Path) -> Here:
    here = Here(tmp_path, environ={"JUPYTER_RUNTIME_DIR": str(tmp_path)})
    kernels = LocalKernels(str(tmp_path), environ=here.environ)
    here.session.resources.attaching = Attaching(kernels, here.say, lambda own: here.say(f"own {own}"))
    return here


async def test_a_kernel_that_runs_elsewhere_cannot_be_exchanged(tmp_path: Path) -> None:
    with pytest.raises(TerpError, match="run elsewhere and cannot be exchanged"):
        await Here(tmp_path).does("/attach newest")


async def test_the_kernel_can_be_used_by_others_once_it_runs(here: Here) -> None:
    assert await here.does("/attach") == [
        "The python kernel has not started yet, or cannot be used by others."
    ]
    here.kernel.connection_file = "/run/k/c.json"
    assert await here.does("/attach") == [
        "Other programs can also use this kernel:",
        "  jupyter console --existing /run/k/c.json",
        "  jupyter qtconsole --existing /run/k/c.json",
        "For JupyterLab, or VS Code with 'Existing Jupyter Server', start a server that finds it:",
        "  jupyter lab --ServerApp.allow_external_kernels=True \\",
        "    --ServerApp.external_connection_dir=/run/k",
        "The kernel ends with this conversation. Code of others is neither approved nor shown here.",
    ]


async def test_a_kernel_that_is_not_there_changes_nothing(here: Here) -> None:
    with pytest.raises(SettingsError, match="there is no connection file 'nothing'"):
        await here.does('/attach "nothing"')
    assert here.out.getvalue() == ""


async def test_the_names_of_kernels_are_completed(here: Here, tmp_path: Path) -> None:
    connection(tmp_path / "kernel-0a1b.json")
    connection(tmp_path / "kernel-0c2d.json")
    assert sorted(here.offered("attach", "")) == ["0a1b", "0c2d", "own"]
    assert here.offered("attach", "0a") == ["0a1b"]


@pytest.mark.parametrize("turns", [0, 1])
async def test_detach_names_only_a_session_that_is_stored(here: Here, turns: int) -> None:
    await here.asked(*["hello"] * turns)
    with pytest.raises(TerpError) as caught:
        await here.does("/detach")
    name = f" -r {here.session.folder.name}" if turns else ""
    then = "continue it" if turns else "start another one"
    assert caught.value.remedy == f"Leave it with /exit, and {then} with terp --detach{name}."
