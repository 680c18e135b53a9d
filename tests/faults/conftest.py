from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

from tests.cli.running import Terp
from tests.faults.disks import disk
from tests.faults.figures import NAME, Figure

__all__ = ["disk"]


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Figure:
    """Notes a line for the end of the run."""
    return lambda line: record_property(NAME, line)


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    for report in terminalreporter.stats.get("passed", []):
        for name, line in report.user_properties:
            if name == NAME:
                terminalreporter.write_line(str(line))
