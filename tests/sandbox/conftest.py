from collections.abc import AsyncGenerator, Iterator

import pytest

from terp.kernels.jupyter.local import LocalKernels
from tests.sandbox.held import held_kernels, tier_named
from tests.sandbox.world import World


# One event loop for all kernels: a kernel lives on the loop that started it.
@pytest.fixture(scope="package")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="package")
def tier(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    found, why = tier_named(name)
    if found is None:
        pytest.skip(f"no sandbox {name} works here: {why}")
    return name


@pytest.fixture(scope="package")
def world(tier: str) -> Iterator[World]:
    world = World()
    yield world
    world.close()


@pytest.fixture(scope="package")
async def with_network(tier: str, world: World) -> AsyncGenerator[LocalKernels, None]:
    kernels = held_kernels(world, tier_named(tier)[0], network=True)
    yield kernels
    await kernels.aclose()


@pytest.fixture(scope="package")
async def without_network(tier: str, world: World) -> AsyncGenerator[LocalKernels, None]:
    kernels = held_kernels(world, tier_named(tier)[0], network=False)
    yield kernels
    await kernels.aclose()
