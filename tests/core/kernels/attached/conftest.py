import os
from collections.abc import AsyncGenerator, Iterator, Mapping
from pathlib import Path

import pytest

from terp.events.kernel import Kernel
from terp.kernels.attached.finding import find_attachment
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.attached.foreign import ForeignKernel


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return {**os.environ, "JUPYTER_RUNTIME_DIR": str(tmp_path_factory.mktemp("runtime"))}


@pytest.fixture(scope="module")
def foreign(environ: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForeignKernel]:
    cwd = tmp_path_factory.mktemp("theirs")
    with ForeignKernel(Path(environ["JUPYTER_RUNTIME_DIR"]), cwd=cwd) as kernel:
        yield kernel


@pytest.fixture
async def kernels(
    foreign: ForeignKernel, environ: Mapping[str, str], tmp_path: Path
) -> AsyncGenerator[LocalKernels, None]:
    kernels = LocalKernels(str(tmp_path), environ=environ)
    found = await find_attachment("newest", environ, str(tmp_path))
    await kernels.attach(found.attachment)
    yield kernels
    await kernels.aclose()


@pytest.fixture
async def kernel(kernels: LocalKernels) -> Kernel:
    return kernels.get("python")
