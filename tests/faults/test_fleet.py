"""A fleet: an Enterprise Gateway in an environment of its own, with many kernels, one of which is killed."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Terp
from tests.core.kernels.remote.connecting import connected
from tests.core.kernels.remote.servers import TOKEN, Server, enterprise_gateway
from tests.core.kernels.running import ran

KERNELS = 8
pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("fleet")
    # It needs a jupyter_client before 7.
    programs = folder / "environment" / "bin"
    subprocess.run([sys.executable, "-m", "venv", programs.parent], check=True)
    install = [str(programs / "pip"), "install", "-q", "jupyter_enterprise_gateway", "ipykernel"]
    # Other tests install nothing from an index of packages.
    environ = {name: value for name, value in os.environ.items() if name != "PIP_NO_INDEX"}
    if subprocess.run(install, env=environ, check=False, capture_output=True).returncode:
        pytest.skip("Enterprise Gateway cannot be installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERP_TEST_ENTERPRISE_GATEWAY", str(programs / "jupyter-enterprisegateway"))
        with enterprise_gateway(folder / "root") as server:
            yield server


async def test_a_killed_host_costs_one_session_its_variables_and_no_other(
    fleet: Server, tmp_path: Path
) -> None:
    sessions = [await connected(fleet, tmp_path / str(number)) for number in range(KERNELS)]
    kernels = [kernels.get("python") for kernels in sessions]
    begun = await asyncio.gather(
        *(ran(kernel, f"x = {at}; import os; print(os.getpid())") for at, kernel in enumerate(kernels))
    )
    assert len({run.stdout for run in begun}) == KERNELS
    ended = await asyncio.gather(
        ran(kernels[0], "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"),
        *(ran(kernel, "print(x)") for kernel in kernels[1:]),
    )
    assert ended[0].ended.status == "died"
    assert [run.stdout for run in ended[1:]] == [f"{at}\n" for at in range(1, KERNELS)]
    # The session goes on in another process, and knows that its variables are gone.
    assert (await ran(kernels[0], "print('x' in globals())")).stdout == "False\n"
    assert kernels[0].generation == 2
    await asyncio.gather(*(one.aclose() for one in sessions))


def test_the_commands_of_the_page_on_clusters_run_as_written(fleet: Server, tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    token = {"JUPYTER_GATEWAY_AUTH_TOKEN": TOKEN, "KERNEL_USERNAME": "ada"}
    listed = terp("languages", "--gateway", fleet.url, **token)
    assert (listed.code, listed.out.split()[0]) == (0, "python")
    result = terp("run", "-", "--gateway", fleet.url, data="print(6 * 7)", **token)
    assert (result.code, result.out) == (0, "42\n")
