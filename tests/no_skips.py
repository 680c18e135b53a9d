"""A pytest plugin with which a skipped test fails the run, for where the programs are installed.

PYTEST_PLUGINS=tests.no_skips python -m pytest

Languages whose programs take hundreds of megabytes, pyarrow, polars, and headers of another processor may be
missing all the same.
"""

import re

import pytest
from _pytest.terminal import TerminalReporter

_MAY_BE_MISSING = re.compile(
    r"no program for (java|r)|no compiler for (go|rust|java)|there is no (R|IRkernel|deno|PowerShell)"
    r"|(codex|Enterprise Gateway) cannot be installed|no npm package|could not import '(pyarrow|polars)'"
    r"|no headers of (x86_64|aarch64)"
)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which anything was skipped; the skips are listed with their reasons by `-ra`."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not isinstance(reporter, TerminalReporter):
        return  # a worker of xdist: the session that started it sees all reports
    reasons = [report.longrepr for report in reporter.stats.get("skipped", [])]
    skipped = sum(not _MAY_BE_MISSING.search(str(reason)) for reason in reasons)
    if skipped and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"{skipped} skipped, and here nothing may be", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
