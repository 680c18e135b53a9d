import os

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("terp", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("terp")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are cores: tests wait for programs a third of their time."""
    return max(2, (os.cpu_count() or 1) * 3 // 2)
