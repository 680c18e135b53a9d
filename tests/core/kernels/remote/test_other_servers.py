"""Servers of another kind, or of another time, than those that the other tests use."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.kernels.remote.connecting import connected
from tests.core.kernels.remote.servers import Server, jupyter_server
from tests.core.kernels.running import ran

OLD_FRAMES = "--ZMQChannelsWebsocketConnection.kernel_ws_protocol="


@pytest.fixture(scope="module")
def old_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with jupyter_server(tmp_path_factory.mktemp("old") / "root", OLD_FRAMES) as server:
        yield server


async def test_a_server_that_speaks_json_runs_code(old_server: Server, tmp_path: Path) -> None:
    kernels = await connected(old_server, tmp_path)
    run = await ran(kernels.get("python"), "print('ä𝄞'); n = open('f', 'w').write('1'); 6 * 7")
    await kernels.aclose()
    assert (run.stdout, run.results, len(run.ended.files)) == ("ä𝄞\n", ["42"], 1)


async def test_a_gateway_is_told_what_begins_with_kernel(a_kernel_gateway: Server, tmp_path: Path) -> None:
    environ = {"KERNEL_USERNAME": "ada", "SOME_API_KEY": "secret"}
    kernels = await connected(a_kernel_gateway, tmp_path, environ=environ)
    run = await ran(
        kernels.get("python"), "import os; os.environ['KERNEL_USERNAME'], os.environ.get('SOME_API_KEY')"
    )
    await kernels.aclose()
    assert run.results == ["('ada', None)"]
