"""The sandbox in which the checks of a session run: a copy of its project, and a confined process."""

import asyncio
import os
import re
import shlex
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from terp.checks.until.check import Check
from terp.checks.until.originals import Differences, Originals, copy_project, folders_entered, words_of
from terp.checks.until.process import Channel, Ended, Tests, run, tests_in
from terp.errors import SettingsError
from terp.events.kernel import Kernels
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.jupyter.rundir import RunDir
from terp.kernels.runtimes.runtime import Machine
from terp.kernels.runtimes.shell import find_shell
from terp.kernels.sandbox.tier import ProcessCommand
from terp.secrets.environment import kernel_environment, python_environment
from terp.settings.interpreter import has_module, needed_by
from terp.settings.project.folders import Folders, folders_of

_CONFIGURES = (
    *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
)
_SECTION = re.compile(rb"^\s*\[\s*(?:tool[.:]\s*)?pytest\b", re.MULTILINE)
_EVALUATE = "import sys; sys.path.pop(0); from {}.expression import main; main(sys.argv[1])"


@dataclass(frozen=True, slots=True)
class Ran:
    """A check that has run: how its process ended, and what that told.

    `holds` is whether an expression was true, None where that is not known. `other` are the files of the
    check that were not as before in the project, `lost` those of them that could not be put back, and
    `touched` those that were written while it ran.
    """

    ended: Ended
    tests: Tests | None = None
    holds: bool | None = None
    value: str = ""
    other: Differences = field(default_factory=Differences)
    lost: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a check may take, in seconds (0: no limit), and how much of its output is kept."""

    timeout_s: float
    max_chars: int


class CheckSandbox:
    """The project around the directory of a session's kernels.

    Raises:
        SettingsError: the code runs on another machine, where no check can be made.
    """

    def __init__(self, kernels: Kernels) -> None:
        if not isinstance(kernels, LocalKernels):
            raise SettingsError(["until: the code runs behind a gateway, and a check only on this machine."])
        self._kernels = kernels

    @property
    def root(self) -> Path:
        """The folder of the project."""
        return self._folders().root

    @property
    def tier(self) -> str:
        """What confines a check that is made now."""
        return self._kernels.confinement.what

    def originals(self, check: Check, patterns: Sequence[str], tests: Tests | None = None) -> Originals:
        """The protected files as they are now; those of `tests` are some, whatever they are called.

        Raises:
            TooLarge: the project has too many files.
        """
        folders, python = self._folders(), self._kernels.python.path
        files, judges = (tests.files, tests.by) if tests else ((), ())
        installed = partial(_is_installed, python)
        return Originals(folders.root, folders.cwd, patterns, check.text, files, judges, installed)

    async def tests_of(self, check: Check, originals: Originals, bounds: Bounds) -> Tests | None:
        """The tests that the pytest of a check finds; None where that cannot be told.

        Raises:
            TerpError: it cannot run.
        """
        return (await self.run(check, originals, bounds, ("--collect-only", "-q"))).tests

    async def run(
        self,
        check: Check,
        originals: Originals,
        bounds: Bounds,
        options: Sequence[str] = (),
        *,
        on_disk: bool = False,
    ) -> Ran:
        """Run a check in a copy of the project with the original files, or with all as it is `on_disk`.

        `options` are more for pytest. Cancelling this ends it.

        Raises:
            TerpError: it cannot run: the project is too large, or a sandbox is required and not to be had.
        """
        folders = self._folders()
        async with _private() as folder:
            copy = folder / "project"
            await asyncio.to_thread(copy_project, folders.root, copy)
            # Where pytest looks for a configuration above the copy, it ends its search here.
            (folder / "pytest.ini").write_text("[pytest]\n")
            (folder / "tmp").mkdir(mode=0o700)
            # The copy is looked at: code that still runs may change the project meanwhile.
            other = await asyncio.to_thread(originals.differences, copy)
            back = () if on_disk else other.put_back
            lost = await asyncio.to_thread(originals.put_back, copy, back)
            state = await asyncio.to_thread(originals.state, copy)
            new = () if on_disk else await asyncio.to_thread(originals.new_files, copy)
            channel = Channel(folder / "channel", [str(copy / name) for name in new])
            cwd = copy / folders.cwd.relative_to(folders.root)
            ended = await self._ran(check, channel, cwd, copy, options, bounds)
            facts = channel.facts()
            touched = () if on_disk else await asyncio.to_thread(originals.touched, copy, state)
        here = Ended(ended.status, ended.output.replace(str(copy), str(folders.root)), ended.seconds)
        if check.expression:
            holds = facts.get("holds") if facts else None
            value = str(facts.get("value", "")) if facts else ""
            known = holds if isinstance(holds, bool) else None
            return Ran(here, None, known, value, other, lost, touched)
        return Ran(here, tests_in(facts, copy, folders.root), None, "", other, lost, touched)

    async def _ran(
        self, check: Check, channel: Channel, cwd: Path, copy: Path, options: Sequence[str], bounds: Bounds
    ) -> Ended:
        # A path of the project that the command names in full would lead out of the copy.
        text = re.sub(rf"{re.escape(str(self.root))}(?![^/\s'\";:&|)])", str(copy), check.text)
        environment = self._environment(channel, copy, (*_pinned(text, cwd, copy), *options))
        folder = copy.parent
        command = ProcessCommand(self._argv(check, text, channel), environment, str(cwd), folder)
        # Environments and data of the project are looked at where they are.
        readable = (str(self.root), *needed_by(self._kernels.python))
        confined = self._kernels.confinement.elsewhere(str(copy)).now(readable)
        try:
            wrapped = confined.tier.wrap(command, confined.policy)
            return await run(wrapped, timeout_s=bounds.timeout_s, max_chars=bounds.max_chars)
        except OSError as error:
            return Ended(127, f"It cannot be started: {error}", 0.0)

    def _argv(self, check: Check, text: str, channel: Channel) -> tuple[str, ...]:
        kernels = self._kernels
        if check.expression:
            return (kernels.python.path, "-c", _EVALUATE.format(channel.package), check.expression)
        shell = find_shell(Machine(kernels.environ, shell=kernels.options.shell))
        # What a program in the middle of a line says must not be lost behind `| tail`.
        return (shell, "-o", "pipefail", "-c", text) if shell else ("/bin/sh", "-c", text)

    def _environment(self, channel: Channel, copy: Path, options: Sequence[str]) -> Mapping[str, str]:
        kernels = self._kernels
        environment = python_environment(
            kernels.python, kernel_environment(kernels.environ, kernels.options.env_pass)
        )
        told = channel.variables
        given_path = environment.get("PYTHONPATH", "").split(os.pathsep)
        own = os.pathsep.join(_moved(place, self.root, copy) for place in given_path)
        plugin = ("-p", f"{channel.package}.tests_told")
        given = environment.get("PYTEST_ADDOPTS", "")
        return {
            **environment,
            **told,
            "PYTHONPATH": os.pathsep.join(filter(None, (told["PYTHONPATH"], own))),
            "PYTHONDONTWRITEBYTECODE": "1",
            # What code has left among the temporary files of others is no part of the project.
            "TMPDIR": str(copy.parent / "tmp"),
            # What fits the narrowest terminal is read anywhere.
            "COLUMNS": "80",
            "PYTEST_ADDOPTS": f"{given} {shlex.join((*plugin, *options))}".strip(),
        }

    def _folders(self) -> Folders:
        return folders_of(self._kernels.cwd, self._kernels.environ)


def _moved(place: str, root: Path, copy: Path) -> str:
    """A folder of the project as it is in the copy; any other as it is."""
    path = Path(place)
    return str(copy / path.relative_to(root)) if path.is_relative_to(root) else place


def _pinned(command: str, cwd: Path, copy: Path) -> tuple[str, str]:
    """Options that hold pytest's root and its conftests below `copy`: where it would see the root itself."""
    folder = Path(os.path.normpath(cwd.joinpath(*folders_entered(command))))
    named = [Path(os.path.normpath(folder / word.partition("::")[0])) for word in words_of(command)]
    inside = [path for path in named if path.is_relative_to(copy) and path.exists()]
    start = Path(os.path.commonpath(inside or [folder]))
    above = [place for place in (start, *start.parents) if place.is_relative_to(copy)]
    found = [place for place in above if any(map(_configures, (place / name for name in _CONFIGURES)))]
    found += [place for place in above for name in ("setup.py", "pyproject.toml") if (place / name).is_file()]
    root = found[0] if found else folder if folder in above else copy
    return f"--rootdir={root}", f"--confcutdir={root}"


def _is_installed(python: str, name: str) -> bool:
    """Whether a top-level module is there without the project."""
    return name in sys.stdlib_module_names or has_module(python, name)


def _configures(path: Path) -> bool:
    """Whether pytest finds its configuration in a file of that name."""
    try:
        content = path.read_bytes()
        return path.name in _CONFIGURES[:4] or _SECTION.search(content) is not None
    except OSError:
        return False


@asynccontextmanager
async def _private() -> AsyncGenerator[Path, None]:
    """A folder that no kernel sees, and that goes away."""
    made = await asyncio.to_thread(lambda: RunDir(Path(os.path.realpath(tempfile.gettempdir()))))
    try:
        yield made.path
    finally:
        await asyncio.to_thread(made.close)
