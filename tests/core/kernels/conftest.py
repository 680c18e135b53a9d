import os
from collections.abc import AsyncGenerator

import pytest

from terp.events.kernel import Kernel
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.running import Listener


# One event loop for all tests with a kernel: a kernel lives on the loop that started it.
@pytest.fixture(scope="package")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="package")
async def kernels(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LocalKernels, None]:
    environ = {**os.environ, "SOME_API_KEY": "secret"}
    kernels = LocalKernels(str(tmp_path_factory.mktemp("cwd")), environ=environ)
    yield kernels
    await kernels.aclose()


@pytest.fixture(scope="package")
async def kernel(kernels: LocalKernels) -> Kernel:
    return kernels.get("python")


@pytest.fixture(scope="package")
async def shell(kernels: LocalKernels) -> Kernel:
    if "shell" not in kernels.languages:
        pytest.skip("there is no bash")
    return kernels.get("shell")


@pytest.fixture
async def heard(kernels: LocalKernels) -> AsyncGenerator[Listener, None]:
    listener = Listener()
    stop = kernels.listen(listener)
    yield listener
    stop()
