"""A plug-in of pytest that tells which tests there were, and how each of them ended."""

from __future__ import annotations

import re
import unittest
from typing import Any

import pytest

from . import channel

LEFT_OUT = channel.left_out()
TELL = channel.take()
SKIPPED_BY = "terp_skipped_by"
SKIPS = (unittest.SkipTest, pytest.skip.Exception, pytest.xfail.Exception)
LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python3|^<")


class Placing:
    """Says in a report who has skipped its test: reports go between processes, exceptions do not."""

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call: Any) -> Any:
        """What a step of a test has raised, before pytest makes its own of it."""
        skips = call.excinfo is not None and isinstance(call.excinfo.value, SKIPS)
        place = skipping(call.excinfo.traceback) if skips else ""
        made = yield
        if skips:
            setattr(made.get_result(), SKIPPED_BY, place)


class Told:
    """Gathers the tests of one session of pytest."""

    def __init__(self) -> None:
        self.collected: set[str] = set()
        self.files: set[str] = set()
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        self.skipped: dict[str, str] = {}

    def pytest_collection_finish(self, session: Any) -> None:
        """The tests that will run."""
        self.collected.update(item.nodeid for item in session.items)
        # Examples in docstrings are of the code, whose files may change.
        self.files.update(str(item.fspath) for item in session.items if isinstance(item, pytest.Function))

    def pytest_collectreport(self, report: Any) -> None:
        """A file, or another part, that could not be read."""
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.skipped:
            self.skipped[report.nodeid] = place_of(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A step of a test: before, in, or after it."""
        self.collected.add(report.nodeid)
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.skipped or hasattr(report, SKIPPED_BY):
            self.skipped[report.nodeid] = getattr(report, SKIPPED_BY, "")
        elif report.when == "call":
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        """All of it is over."""
        TELL(
            status=int(exitstatus),
            collected=len(self.collected),
            ended=len(self.collected & {*self.passed, *self.failed, *self.skipped}),
            passed=len(self.passed - self.failed),
            failed=len(self.failed),
            skipped=sorted(set(self.skipped.values())),
            files=sorted(self.files),
        )


def skipping(traceback: Any) -> str:
    """The file of the innermost line that is of no library; "" where only libraries have decided to skip."""
    files = [str(entry.path) for entry in traceback]
    return next((file for file in reversed(files) if not LIBRARY.search(file)), "")


def place_of(report: Any) -> str:
    """The file that skipped a test; "" where that is not told."""
    told = report.longrepr
    return str(told[0]) if isinstance(told, tuple) and told else ""


def is_left_out(path: Any) -> Any:
    """True for a file in which there were no tests before."""
    return True if str(path) in LEFT_OUT else None


class Before7:
    """Leaves files out, as pytest names them until its version 6."""

    def pytest_ignore_collect(self, path: Any) -> Any:
        """True for a file that is left out."""
        return is_left_out(path)


class Since7:
    """Leaves files out, as pytest names them by now."""

    def pytest_ignore_collect(self, collection_path: Any) -> Any:
        """True for a file that is left out."""
        return is_left_out(collection_path)


def pytest_configure(config: Any) -> None:
    """Listen, unless this process is one of many that another listens to."""
    config.pluginmanager.register(Placing(), "terp-placing")
    since_7 = int(pytest.__version__.partition(".")[0]) >= 7
    config.pluginmanager.register(Since7() if since_7 else Before7(), "terp-left-out")
    if TELL is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Told(), "terp-told")
