"""The sandbox in which the checks of a session run: a copy of its project, and a limited process."""

import asyncio
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from terp.checks.process import Channel, LimitedProcess, ProcessResult, local_kernels, private_folder
from terp.checks.until.goal import Check, Goal
from terp.checks.until.originals import Differences, Originals, copy_project, folders_entered, words_of
from terp.events.kernel import Kernels
from terp.kernels.runtimes.runtime import Machine
from terp.kernels.runtimes.shell import find_shell
from terp.settings.interpreter import has_module
from terp.settings.project.folders import Folders, folders_of
from terp.text.dataclasses import dataclass, field, replace

_CONFIGURATIONS = (
    *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
)
_SECTION = re.compile(rb"^\s*\[\s*(?:tool[.:]\s*)?pytest\b", re.MULTILINE)
_NUMBERS = ("status", "collected", "ended", "passed", "failed")
_LISTS = ("skipped", "files", "broken", "by", "loaded")


@dataclass(frozen=True, slots=True)
class PytestReport:
    """The tests of one session of pytest, which stand in `files`; code in `skipped_by` skipped some of them.

    Hooks and tests are of the files `by`. Modules of the project in the files `loaded` ran in the same
    process. The names that are `broken` were replaced while the tests ran.
    """

    status: int
    collected: int
    ended: int
    passed: int
    failed: int
    skipped_by: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One run of a check: the end of its process, and the report of it.

    `holds` is the truth of an expression, None if it is not known, and `value` its value as text. `other` are
    the differences of the check's files from the originals, `lost` those of them that could not be restored,
    and `touched` files of the check that were written while it ran.
    """

    process: ProcessResult
    tests: PytestReport | None = None
    holds: bool | None = None
    value: str = ""
    other: Differences = field(default_factory=Differences)
    lost: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()


class CheckSandbox:
    """Runs checks in copies of the project around the working directory of a session's kernels.

    Raises:
        SettingsError: the code runs on another machine, where no check can run.
    """

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = local_kernels(kernels, "until")

    @property
    def root(self) -> Path:
        """The folder of the project."""
        return self._folders().root

    @property
    def tier(self) -> str:
        """The sandbox tier of a check that runs now, as shown to the user."""
        return self._kernels.confinement.what

    def originals(self, goal: Goal, tests: PytestReport | None = None) -> Originals:
        """Return the protected files as they are now; files of `tests` are protected under any name.

        Raises:
            TooLarge: the project has too many files.
        """
        folders, python = self._folders(), self._kernels.python.path
        files, judges = (tests.files, tests.by) if tests else ((), ())
        installed = partial(_is_installed, python)
        text = goal.check.text
        return Originals(folders.root, folders.cwd, goal.protect, text, files, judges, installed)

    async def tests_of(self, goal: Goal, originals: Originals) -> PytestReport | None:
        """Return the tests that the pytest of a check finds; None if it does not report them.

        Raises:
            TerpError: it cannot run.
        """
        return (await self.run(goal, originals, ("--collect-only", "-q"))).tests

    async def run(
        self, goal: Goal, originals: Originals, options: Sequence[str] = (), *, on_disk: bool = False
    ) -> CheckResult:
        """Run a check in a copy of the project, with the original files or with the files `on_disk`.

        `options` are passed on to pytest. Cancelling this ends the process.

        Raises:
            TerpError: it cannot run: the project is too large, or a sandbox is required and none works.
        """
        folders = self._folders()
        async with private_folder() as folder:
            copy = folder / "project"
            await asyncio.to_thread(copy_project, folders.root, copy)
            # pytest looks for its configuration in folders above the copy too, and stops here.
            (folder / "pytest.ini").write_text("[pytest]\n")
            (folder / "tmp").mkdir(mode=0o700)
            # Compared in the copy: code that still runs may change the project meanwhile.
            other = await asyncio.to_thread(originals.differences, copy)
            back = () if on_disk else other.restored
            lost = await asyncio.to_thread(originals.restore, copy, back)
            state = await asyncio.to_thread(originals.state, copy)
            new = () if on_disk else await asyncio.to_thread(originals.new_files, copy)
            channel = Channel(folder / "channel", [str(copy / name) for name in new])
            cwd = copy / folders.cwd.relative_to(folders.root)
            process = await self._ran(goal, channel, cwd, copy, options)
            facts = channel.facts()
            touched = () if on_disk else await asyncio.to_thread(originals.touched, copy, state)
        here = replace(process, output=process.output.replace(str(copy), str(folders.root)))
        result = CheckResult(here, other=other, lost=lost, touched=touched)
        if not goal.check.expression:
            return replace(result, tests=_pytest_report(facts, copy, folders.root))
        holds = facts.get("holds") if facts else None
        value = str(facts.get("value", "")) if facts else ""
        return replace(result, holds=holds if isinstance(holds, bool) else None, value=value)

    async def _ran(
        self, goal: Goal, channel: Channel, cwd: Path, copy: Path, options: Sequence[str]
    ) -> ProcessResult:
        kernels = self._kernels
        process = LimitedProcess(
            kernels, kernels.confinement, timeout_s=goal.timeout_s, max_chars=goal.max_chars
        )
        # A path of the project that the command names in full would lead out of the copy.
        text = re.sub(rf"{re.escape(str(self.root))}(?![^/\s'\";:&|)])", str(copy), goal.check.text)
        pinned = _pinned(text, cwd, copy)
        environment = self._environment(process.environment, channel, copy, (*pinned, *options))
        # Environments and data of the project are not copied: links in the copy lead to them.
        return await process.run(
            self._argv(goal.check, text, channel), environment, cwd, copy, (str(self.root),)
        )

    def _argv(self, check: Check, text: str, channel: Channel) -> tuple[str, ...]:
        kernels = self._kernels
        if check.expression:
            return (*channel.argv(kernels.python.path, "expression", "main(sys.argv[1])"), check.expression)
        shell = find_shell(Machine(kernels.environ, shell=kernels.options.shell))
        # The status of a program in the middle of a line must not be lost behind `| tail`.
        return (shell, "-o", "pipefail", "-c", text) if shell else ("/bin/sh", "-c", text)

    def _environment(
        self, allowed: Mapping[str, str], channel: Channel, copy: Path, options: Sequence[str]
    ) -> Mapping[str, str]:
        path = allowed.get("PYTHONPATH", "").split(os.pathsep)
        plugin = ("-p", f"{channel.package}.pytest_plugin")
        given = allowed.get("PYTEST_ADDOPTS", "")
        return {
            **allowed,
            **channel.variables(*(_moved(place, self.root, copy) for place in path)),
            # Temporary files that code created elsewhere are no part of the project.
            "TMPDIR": str(copy.parent / "tmp"),
            # The width of the narrowest terminal, so that the output can be read on any.
            "COLUMNS": "80",
            "PYTEST_ADDOPTS": f"{given} {shlex.join((*plugin, *options))}".strip(),
        }

    def _folders(self) -> Folders:
        return folders_of(self._kernels.cwd, self._kernels.environ)


def _pytest_report(facts: Mapping[str, Any] | None, copy: Path, root: Path) -> PytestReport | None:
    """Read the report of a process that ran in a `copy` of the project at `root`; None if it is no report."""
    if facts is None:
        return None
    numbers = [facts.get(name) for name in _NUMBERS]
    lists = [facts.get(name) for name in _LISTS]
    if not all(type(number) is int for number in numbers) or not all(isinstance(one, list) for one in lists):
        return None
    status, collected, ended, passed, failed = (int(number or 0) for number in numbers)
    here = (tuple(str(path).replace(str(copy), str(root)) for path in paths or ()) for paths in lists)
    return PytestReport(status, collected, ended, passed, failed, *here)


def _moved(place: str, root: Path, copy: Path) -> str:
    """Replace `root`, the project, with `copy` in a path. Paths outside the project stay as they are."""
    path = Path(place)
    return str(copy / path.relative_to(root)) if path.is_relative_to(root) else place


def _pinned(command: str, cwd: Path, copy: Path) -> tuple[str, str]:
    """Return options by which pytest uses the root and the conftests that it would find in the project."""
    folder = Path(os.path.normpath(cwd.joinpath(*folders_entered(command))))
    named = [Path(os.path.normpath(folder / word.partition("::")[0])) for word in words_of(command)]
    inside = [path for path in named if path.is_relative_to(copy) and path.exists()]
    start = Path(os.path.commonpath(inside or [folder]))
    above = [place for place in (start, *start.parents) if place.is_relative_to(copy)]
    found = [place for place in above if any(map(_configures, (place / name for name in _CONFIGURATIONS)))]
    found += [place for place in above for name in ("setup.py", "pyproject.toml") if (place / name).is_file()]
    root = found[0] if found else folder if folder in above else copy
    return f"--rootdir={root}", f"--confcutdir={root}"


def _is_installed(python: str, name: str) -> bool:
    return name in sys.stdlib_module_names or has_module(python, name)


def _configures(path: Path) -> bool:
    """Return True if pytest reads its configuration from this file."""
    try:
        content = path.read_bytes()
        return path.name in _CONFIGURATIONS[:4] or _SECTION.search(content) is not None
    except OSError:
        return False
