import os
import signal

import pytest
from hypothesis import HealthCheck, settings

_FAULTS_LIMIT_S = 1800

# How long an example takes says more about the machine than about the code.
settings.register_profile("terp", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("terp")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_configure() -> None:
    """Put what tests need of their process in place."""
    # No test asks an index of packages: what it installs it brings along.
    os.environ.update(PIP_NO_INDEX="1", UV_OFFLINE="1")
    receive_signals()


def receive_signals() -> None:
    """Receive the signals that `nohup` and a shell's `&` have a program ignore: tests send them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give tests of faults, which take minutes by themselves, a time limit of their own."""
    if item.get_closest_marker("faults"):
        item.add_marker(pytest.mark.timeout(_FAULTS_LIMIT_S))


def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are cores: tests wait for programs a third of their time."""
    return max(2, (os.cpu_count() or 1) * 3 // 2)
