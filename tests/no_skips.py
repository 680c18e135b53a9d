"""A pytest plugin with which a skipped test fails the run, for where every program is installed.

PYTEST_PLUGINS=tests.no_skips python -m pytest
"""

import pytest
from _pytest.terminal import TerminalReporter


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which anything was skipped; the skips are listed with their reasons by `-ra`."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not isinstance(reporter, TerminalReporter):
        return  # a worker of xdist: the session that started it sees all reports
    skipped = len(reporter.stats.get("skipped", []))
    if skipped and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"{skipped} skipped, and here nothing may be", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
