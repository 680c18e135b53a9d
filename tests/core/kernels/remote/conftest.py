from collections.abc import AsyncGenerator, Iterator

import pytest

from terp.events.kernel import Kernel
from terp.kernels.remote.kernels import GatewayKernels
from tests.core.kernels.remote.connecting import connected
from tests.core.kernels.remote.servers import (
    Server,
    enterprise_gateway,
    enterprise_gateway_program,
    jupyter_server,
    kernel_gateway,
)
from tests.core.kernels.running import Listener


@pytest.fixture(scope="package")
def a_jupyter_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with jupyter_server(tmp_path_factory.mktemp("server") / "root") as server:
        yield server


@pytest.fixture(scope="package")
def a_kernel_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with kernel_gateway(tmp_path_factory.mktemp("gateway") / "root") as server:
        yield server


@pytest.fixture(scope="package")
def an_enterprise_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with enterprise_gateway(tmp_path_factory.mktemp("enterprise") / "root") as server:
        yield server


KINDS = ["a_jupyter_server", "a_kernel_gateway"]


@pytest.fixture(
    scope="package", params=KINDS + (["an_enterprise_gateway"] if enterprise_gateway_program() else [])
)
def server(request: pytest.FixtureRequest) -> Server:
    """Each kind of server in turn."""
    server = request.getfixturevalue(request.param)
    assert isinstance(server, Server)
    return server


@pytest.fixture(scope="package")
async def kernels(
    server: Server, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[GatewayKernels, None]:
    kernels = await connected(server, tmp_path_factory.mktemp("session"))
    yield kernels
    await kernels.aclose()


@pytest.fixture(scope="package")
async def kernel(kernels: GatewayKernels) -> Kernel:
    return kernels.get("python")


@pytest.fixture
async def heard(kernels: GatewayKernels) -> AsyncGenerator[Listener, None]:
    listener = Listener()
    stop = kernels.listen(listener)
    yield listener
    stop()
