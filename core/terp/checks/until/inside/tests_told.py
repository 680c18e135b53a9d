"""A plug-in of pytest that tells which tests there were, and how each of them ended."""

from __future__ import annotations

import os
import re
import sys
import unittest
from typing import Any

import pytest

from . import channel
from .seal import Seal, file_of

LEFT_OUT = channel.left_out()
TELL = channel.take()
HERE = os.path.dirname(__file__)  # noqa: PTH120
WATCHING = "terp-watching"
MOST = 2000
SKIPPED_BY = "terp_skipped_by"
SKIPS = (unittest.SkipTest, pytest.skip.Exception, pytest.xfail.Exception)
LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python3|^<")


def _fill_in_doctest() -> None:
    """Have pytest make the classes that it makes at its first example in a docstring, before they count."""
    doctest: Any = sys.modules.get("_pytest.doctest")
    if doctest is not None:
        doctest._get_runner()
        doctest._get_checker()


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


class Watching:
    """Looks in each process of pytest whether what judges is as it was, and what is loaded beside it.

    Of its facts `broken` are names that stand for something else by now, `by` the files of what decides about
    tests, which are hooks, finders of modules and the tests themselves, and `loaded` those of modules.
    """

    def __init__(self, config: Any) -> None:
        self._config = config
        _fill_in_doctest()
        self._seal = Seal(hook=config.hook, pluginmanager=config.pluginmanager)
        self._finders = list(sys.meta_path)
        self._tests: list[Any] = []
        self.facts: dict[str, set[str]] = {"broken": set(), "by": set(), "loaded": set()}

    def pytest_itemcollected(self, item: Any) -> None:
        """A test, before any has run."""
        if isinstance(item, pytest.Function):
            self._tests.append(item)
            self._seal.close(item.function)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Look, and let the process that others report to know."""
        self.add({"broken": self._seal.broken(), "by": self._judges(), "loaded": self._loaded()})
        if hasattr(self._config, "workerinput"):
            self._config.workeroutput["terp"] = {name: sorted(found) for name, found in self.facts.items()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Another process has ended."""
        self.add(getattr(node, "workeroutput", {}).get("terp", {}))

    def add(self, facts: Any) -> None:
        """Put what a process has found to the rest."""
        for name, found in facts.items():
            self.facts[name].update(found)

    def _judges(self) -> list[str]:
        hooks = [hook for hook in vars(self._config.hook).values() if hasattr(hook, "get_hookimpls")]
        judges = [item.obj for item in self._tests] + [hook._hookexec for hook in hooks]
        judges += [one.function for hook in hooks for one in hook.get_hookimpls()]
        # Only a finder before those that there were finds other tests than they.
        first = next((place for place, one in enumerate(sys.meta_path) if one in self._finders), None)
        judges += [one.find_spec for one in sys.meta_path[:first]]
        return [file for file in map(file_of, judges) if not file.startswith(HERE)]

    def _loaded(self) -> list[str]:
        files = [str(getattr(module, "__file__", "")) for module in list(sys.modules.values())]
        return [file for file in files if file.startswith(str(self._config.rootpath))][:MOST]


class Told:
    """Gathers the tests of one session of pytest, with what is `watched` in its processes."""

    def __init__(self, watched: Any) -> None:
        self._watched = watched
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

    @pytest.hookimpl(trylast=True)
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
            **{name: sorted(found) for name, found in self._watched.items()},
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


def pytest_load_initial_conftests(early_config: Any) -> None:
    """Look at what judges: plug-ins that are installed are there, and no code of the project has run."""
    early_config.pluginmanager.register(Watching(early_config), WATCHING)


def pytest_configure(config: Any) -> None:
    """Listen, unless this process is one of many that another listens to."""
    config.pluginmanager.register(Placing(), "terp-placing")
    since_7 = int(pytest.__version__.partition(".")[0]) >= 7
    config.pluginmanager.register(Since7() if since_7 else Before7(), "terp-left-out")
    if TELL is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Told(config.pluginmanager.get_plugin(WATCHING).facts), "terp-told")
