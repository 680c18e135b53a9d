"""The kernels of a session for a program."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.errors import KernelBusy, KernelError, KernelStartFailed
from terp.events.outputs import Error
from terp.kernels.jupyter.local import LocalKernels
from terp.person import AutoRun
from terp.session.live_kernel import LiveKernel
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel
from tests.core.sessions import open_session


@pytest.fixture
async def kernel(tmp_path: Path) -> AsyncGenerator[LiveKernel, None]:
    folder = tmp_path / "cwd"
    folder.mkdir()
    session = Session(ScriptedModel(), LocalKernels(str(folder)), AutoRun(), folder=tmp_path / "session")
    yield session.kernel
    await session.aclose()


async def test_a_run_has_text_outputs_and_an_error(kernel: LiveKernel) -> None:
    run = await kernel.run("print('so far')\n1 / 0")
    assert (run.text, run.status) == ("so far\nZeroDivisionError: division by zero\n", "error")
    assert isinstance(run.error, Error)
    assert (run.error.name, run.error.value) == ("ZeroDivisionError", "division by zero")
    assert (await kernel.run("1 + 1")).error is None


async def test_variables_are_known_by_name(kernel: LiveKernel) -> None:
    assert await kernel.variables() == {}
    await kernel.run("numbers = [1, 2, 3]")
    found = (await kernel.variables())["numbers"]
    assert (found.type, found.shape) == ("list", (3,))


async def test_a_kernel_is_started_stopped_and_restarted(kernel: LiveKernel) -> None:
    states: list[str] = [kernel.status()]
    await kernel.start()
    states.append(kernel.status())
    await kernel.run("x = 1")
    await kernel.restart()
    assert "x" not in await kernel.variables()
    await kernel.stop()
    assert [*states, kernel.status()] == ["stopped", "ready", "stopped"]


async def test_a_kernel_that_died_is_stopped_and_starts_at_its_next_use(kernel: LiveKernel) -> None:
    died = await kernel.run("import os; os._exit(1)")
    assert (died.status, died.error) == ("died", Error("KernelDied", died.reason))
    assert kernel.status() == "stopped"
    assert (await kernel.run("1 + 1")).text == "2\n"
    assert kernel.status() == "ready"


async def test_files_are_copied_to_the_kernel_and_back(kernel: LiveKernel, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes(b"a,b\n1,2\n")
    assert await kernel.upload(table) == str(tmp_path / "cwd" / "table.csv")
    assert await kernel.upload(b"other", "table.csv") == str(tmp_path / "cwd" / "table-2.csv")
    assert await kernel.download("table.csv") == b"a,b\n1,2\n"
    with pytest.raises(KernelError, match=r"cannot read 'nothing\.csv'"):
        await kernel.download("nothing.csv")


async def test_files_that_code_wrote_are_listed(kernel: LiveKernel, tmp_path: Path) -> None:
    await kernel.run("open('made.txt', 'w').write('x')")
    assert kernel.files == (str(tmp_path / "cwd" / "made.txt"),)


async def test_packages_are_listed_with_their_versions(kernel: LiveKernel) -> None:
    assert (await kernel.list_packages())["ipykernel"].count(".") >= 1


async def test_a_kernel_without_the_package_of_terp_says_so(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel(), EchoKernel())
    with pytest.raises(KernelError, match="exchanges no values"):
        await session.kernel.set("x", 1)


async def test_a_kernel_that_does_not_start_is_raised(tmp_path: Path) -> None:
    class Broken(EchoKernel):
        async def start(self) -> None:
            raise KernelStartFailed("No kernel.")

    with pytest.raises(KernelError, match="No kernel"):
        await open_session(tmp_path, ScriptedModel(), Broken()).kernel.run("1")


async def test_no_value_is_exchanged_while_code_runs(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = open_session(tmp_path, ScriptedModel(), kernel)
    running = session.run("python", EchoKernel.ENDLESS)
    await anext(running)
    with pytest.raises(KernelBusy, match="is running"):
        await session.kernel.get("x")
    await running.aclose()
