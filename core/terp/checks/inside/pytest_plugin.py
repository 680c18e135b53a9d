"""A plug-in of pytest that reports which tests there were, how each ended, and signs of tampering.

Tampering is anything by which code of the project could decide how its own tests end: what judges tests was
replaced while they ran, or hooks and tests are the project's own.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import unittest
from typing import Any

import pytest

from . import left_out, take_channel

LEFT_OUT = left_out()
REPORT = take_channel()
HERE = os.path.dirname(__file__)  # noqa: PTH120
WATCHER = "terp-watcher"
MOST = 2000
SKIPPED_BY = "terp_skipped_by"
SKIPS = (unittest.SkipTest, pytest.skip.Exception, pytest.xfail.Exception)
LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python3|^<")
JUDGES = ("builtins", "pytest", "_pytest", "pluggy", "unittest")
# Python and pytest put these there themselves, when they are needed.
ADDED_LATER = frozenset({"unittest.IsolatedAsyncioTestCase", "pytest.xfail"})
OTHER_PLUGIN = re.compile(r"(site|dist)-packages[/\\](?!_?pytest\b|pluggy\b)")


class Seal:
    """The callables of the modules and classes that judge tests, and of `objects` of pytest, when it is made.

    `broken` compares them with those of a later time.
    """

    def __init__(self, **objects: Any) -> None:
        self._parts: list[tuple[str, Any, dict[str, Any]]] = []
        self._codes: dict[Any, Any] = {}
        # New names in these replace nothing.
        self._open = {"builtins", *objects}
        for name, module in [*sys.modules.items(), *objects.items()]:
            if name.partition(".")[0] in (*JUDGES, *objects):
                self._add(name, module)
                for inner in [one for one in vars(module).values() if isinstance(one, type)]:
                    if inner.__module__.partition(".")[0] in JUDGES[1:]:
                        self._add(f"{name}.{inner.__name__}", inner)

    def close(self, function: Any) -> None:
        """Add the code of one more function, such as a test."""
        code = getattr(function, "__code__", None)
        if code is not None:
            self._codes.setdefault(function, code)

    def broken(self) -> list[str]:
        """Return the names that were replaced since, except by other installed packages."""
        changed = set()
        for place, whole, before in self._parts:
            now = _callables(whole)
            for name in before if place in self._open else {**now, **before}:
                part = now.get(name)
                if part is not before.get(name) and not _is_of_other_plugin(part):
                    changed.add(f"{place}.{name}")
        codes = [function for function, code in self._codes.items() if function.__code__ is not code]
        return sorted({*changed, *(function.__qualname__ for function in codes)} - ADDED_LATER)

    def _add(self, place: str, whole: Any) -> None:
        parts = _callables(whole)
        self._parts.append((place, whole, parts))
        for part in parts.values():
            self.close(_function(part))


class SkipMarker:
    """Adds to the report of a skipped test which file skipped it.

    Reports are sent between the processes of pytest, exceptions are not.
    """

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call: Any) -> Any:
        """Read the exception of a test's step before pytest replaces it by a text."""
        skips = call.excinfo is not None and isinstance(call.excinfo.value, SKIPS)
        place = skipping(call.excinfo.traceback) if skips else ""
        made = yield
        if skips:
            setattr(made.get_result(), SKIPPED_BY, place)


class Watcher:
    """Looks for signs of tampering in each process of pytest.

    `facts` are names that were replaced ("broken"), files of the hooks, of the finders of modules and of the
    tests ("by"), and files of modules of the project that are loaded ("loaded").
    """

    def __init__(self, config: Any) -> None:
        self._config = config
        _fill_in_doctest()
        self._seal = Seal(hook=config.hook, pluginmanager=config.pluginmanager)
        self._finders = list(sys.meta_path)
        self._tests: list[Any] = []
        self.facts: dict[str, set[str]] = {"broken": set(), "by": set(), "loaded": set()}

    def pytest_itemcollected(self, item: Any) -> None:
        """Add a test to the seal before any has run."""
        if isinstance(item, pytest.Function):
            self._tests.append(item)
            self._seal.close(item.function)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Gather the facts, and send those of a worker to the process that it works for."""
        self.add({"broken": self._seal.broken(), "by": self._judges(), "loaded": self._loaded()})
        if hasattr(self._config, "workerinput"):
            self._config.workeroutput["terp"] = {name: sorted(found) for name, found in self.facts.items()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the facts of a worker that has ended."""
        self.add(getattr(node, "workeroutput", {}).get("terp", {}))

    def add(self, facts: Any) -> None:
        """Add the facts of one process."""
        for name, found in facts.items():
            self.facts[name].update(found)

    def _judges(self) -> list[str]:
        hooks = [hook for hook in vars(self._config.hook).values() if hasattr(hook, "get_hookimpls")]
        judges = [item.obj for item in self._tests] + [hook._hookexec for hook in hooks]
        judges += [one.function for hook in hooks for one in hook.get_hookimpls()]
        # Only a finder in front of the original ones can find other tests than they do.
        first = next((place for place, one in enumerate(sys.meta_path) if one in self._finders), None)
        judges += [one.find_spec for one in sys.meta_path[:first]]
        return [file for file in map(file_of, judges) if not file.startswith(HERE)]

    def _loaded(self) -> list[str]:
        files = [str(getattr(module, "__file__", "")) for module in list(sys.modules.values())]
        return [file for file in files if file.startswith(str(self._config.rootpath))][:MOST]


class Reporter:
    """Counts the tests of one session of pytest and reports them at its end, with the watcher's `facts`."""

    def __init__(self, facts: Any) -> None:
        self._facts = facts
        self.collected: set[str] = set()
        self.files: set[str] = set()
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        self.skipped: dict[str, str] = {}

    def pytest_collection_finish(self, session: Any) -> None:
        """Count the tests that will run."""
        self.collected.update(item.nodeid for item in session.items)
        # Examples in docstrings stand in the code under test, whose files may change.
        self.files.update(str(item.fspath) for item in session.items if isinstance(item, pytest.Function))

    def pytest_collectreport(self, report: Any) -> None:
        """Count a file, or another part, that could not be collected."""
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.skipped:
            self.skipped[report.nodeid] = skipped_in(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a step of a test: its setup, call or teardown."""
        self.collected.add(report.nodeid)
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.skipped or hasattr(report, SKIPPED_BY):
            self.skipped[report.nodeid] = getattr(report, SKIPPED_BY, "")
        elif report.when == "call":
            self.passed.add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        """Write the report to the channel."""
        REPORT(
            status=int(exitstatus),
            collected=len(self.collected),
            ended=len(self.collected & {*self.passed, *self.failed, *self.skipped}),
            passed=len(self.passed - self.failed),
            failed=len(self.failed),
            skipped=sorted(set(self.skipped.values())),
            files=sorted(self.files),
            **{name: sorted(found) for name, found in self._facts.items()},
        )


class Ignore6:
    """Leaves files out; the hook has the parameter of pytest up to version 6."""

    def pytest_ignore_collect(self, path: Any) -> Any:
        """Return True for a file that is left out."""
        return is_left_out(path)


class Ignore7:
    """Leaves files out; the hook has the parameter of pytest since version 7."""

    def pytest_ignore_collect(self, collection_path: Any) -> Any:
        """Return True for a file that is left out."""
        return is_left_out(collection_path)


def pytest_load_initial_conftests(early_config: Any) -> None:
    """Start watching: installed plug-ins are loaded by now, and no code of the project has run."""
    early_config.pluginmanager.register(Watcher(early_config), WATCHER)


def pytest_configure(config: Any) -> None:
    """Register the rest; the reporter only in the process that has the channel."""
    config.pluginmanager.register(SkipMarker(), "terp-skip-marker")
    since_7 = int(pytest.__version__.partition(".")[0]) >= 7
    config.pluginmanager.register(Ignore7() if since_7 else Ignore6(), "terp-left-out")
    if REPORT is not None and not hasattr(config, "workerinput"):
        facts = config.pluginmanager.get_plugin(WATCHER).facts
        config.pluginmanager.register(Reporter(facts), "terp-reporter")


def skipping(traceback: Any) -> str:
    """Return the innermost file of a traceback that is of no library; "" if all are."""
    files = [str(entry.path) for entry in traceback]
    return next((file for file in reversed(files) if not LIBRARY.search(file)), "")


def skipped_in(report: Any) -> str:
    """Return the file that skipped a test; "" if the report does not name it."""
    place = report.longrepr
    return str(place[0]) if isinstance(place, tuple) and place else ""


def is_left_out(path: Any) -> Any:
    """Return True for a file that had no tests before, None for any other."""
    return True if str(path) in LEFT_OUT else None


def file_of(function: Any) -> str:
    """Return the file that a function is written in; the name of its type if it has none."""
    code = getattr(_function(inspect.unwrap(function)), "__code__", None)
    return str(code.co_filename) if code is not None else type(function).__name__


def _callables(whole: Any) -> dict[str, Any]:
    kinds = (property, classmethod, staticmethod)
    return {name: part for name, part in [*vars(whole).items()] if callable(part) or isinstance(part, kinds)}


def _function(part: Any) -> Any:
    return getattr(part, "fget", None) or getattr(part, "__func__", part)


def _is_of_other_plugin(part: Any) -> bool:
    code = getattr(_function(part), "__code__", None)
    return code is not None and OTHER_PLUGIN.search(code.co_filename) is not None


def _fill_in_doctest() -> None:
    """Create the classes that pytest makes at its first doctest, so that they do not count as replaced."""
    doctest: Any = sys.modules.get("_pytest.doctest")
    if doctest is not None:
        doctest._get_runner()
        doctest._get_checker()
