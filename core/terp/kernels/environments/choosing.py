"""Choose the Python that runs the code of a session: once, before its first Python code, with consent."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Protocol

from terp.errors import KernelStartFailed
from terp.events.kernel import Kernel
from terp.kernels.environments.installing import Installer, InstallFailed, linked_overlay, pip_shims
from terp.kernels.environments.readiness import Preparation
from terp.models.tool import Call
from terp.person import Choice, Option
from terp.person.dialog import UserDialog
from terp.settings.interpreter import (
    Interpreter,
    active_python,
    has_module,
    own_interpreter,
    project_python,
    site_packages,
    version_of,
)
from terp.text.dataclasses import asdict, dataclass, replace
from terp.text.digest import sha256
from terp.text.files import replace_private

How = Literal["used", "installed", "overlay", "own"]


@dataclass(frozen=True, slots=True)
class PythonDecision:
    """The user's decision about `python`, which was the file `real` at that time.

    It is "used", ipykernel is "installed" in it or an "overlay" beside it, or terp's "own" runs instead.
    """

    python: str
    real: str
    how: How


def remembered_in(state: Path) -> Path:
    """Return the file of decisions in terp's state folder."""
    return state / "pythons.json"


class Remembered:
    """The decisions about projects' Pythons in `file`, by folder; empty if the file cannot be read."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def about(self, folder: str, python: str) -> PythonDecision | None:
        """Return the decision in `folder` about `python`, if it is still the same file."""
        entry = self._all().get(folder)
        if not isinstance(entry, dict) or entry.keys() != {"python", "real", "how"}:
            return None
        decision = PythonDecision(**entry)
        same = (decision.python, decision.real) == (python, os.path.realpath(python))
        return decision if same else None

    def keep(self, folder: str, python: str, how: How) -> None:
        """Store a decision. If the file cannot be written, the next session asks again."""
        known = self._all() | {folder: asdict(PythonDecision(python, os.path.realpath(python), how))}
        with suppress(OSError):
            replace_private(self._file, json.dumps(known, indent=1, sort_keys=True) + "\n")

    def _all(self) -> dict[str, Any]:
        try:
            known = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


LANGUAGES = ("python", "sql")
OWN = "own"
"""The setting for terp's own Python."""
_LAUNCHER = "ipykernel_launcher"


class HasInterpreter(Protocol):
    """Kernels with an interpreter for Python code."""

    interpreter: Interpreter | None


@dataclass(frozen=True, slots=True)
class WantedPython:
    """The Python that the settings or the environment name; `folder` is its project's, "" without one.

    A project's Python needs consent, unless the user has `agreed` by trusting the project.
    """

    path: str
    why: str
    name: str
    folder: str = ""
    agreed: bool = False

    @property
    def key(self) -> str:
        """The key of a remembered decision: the project's folder, else the environment's."""
        return self.folder or str(Path(self.path).parent.parent)


def wanted_python(
    configured: str, environ: Mapping[str, str], cwd: str, agreed: bool | None = None
) -> WantedPython | None:
    """Return the configured Python, the active environment's, or the project's; None for terp's own.

    `agreed` is the user's decision if the project's may run code; None if there is none.
    """
    if configured:
        return WantedPython(_program(configured), "as configured", configured)
    path, variable = active_python(environ)
    if path:
        return WantedPython(path, f"of {variable}", environ[variable])
    if agreed is not False and (project := project_python(cwd, environ)):
        why = f"of the project, {project.name}"
        return WantedPython(project.path, why, project.name, project.folder, bool(agreed))
    return None


class PythonChoice(Preparation):
    """Sets the interpreter of `kernels` before the first Python code.

    `state` is the folder of remembered decisions, overlays and packages.
    """

    def __init__(
        self,
        wanted: WantedPython | None,
        kernels: HasInterpreter,
        dialog: UserDialog,
        state: Path,
        environ: Mapping[str, str],
    ) -> None:
        self._wanted = wanted
        self._kernels = kernels
        self._dialog = dialog
        self._overlays, self._packages, self._shims = (
            state / name for name in ("overlays", "packages", "programs")
        )
        self._remembered = Remembered(remembered_in(state))
        self._environ = environ
        self._settle_at_once()

    @property
    def current(self) -> Interpreter | None:
        """The Python of the next start; None before it is decided. Can be set."""
        return self._kernels.interpreter

    @current.setter
    def current(self, interpreter: Interpreter | None) -> None:
        self._kernels.interpreter = interpreter

    def waits(self, language: str) -> bool:
        """Return True if a decision is open before the kernel of `language` starts.

        A shell waits for the Python whose `pip` it uses, unless that needs a question.
        """
        if self._wanted is None or self._kernels.interpreter is not None:
            return False
        return language in LANGUAGES or (language == "shell" and not self._asks(self._wanted))

    async def before(self, call: Call, kernel: Kernel) -> str:
        """Decide if the code needs Python and nothing is decided yet; return a note for the model."""
        if not self.waits(kernel.language):
            return ""
        assert self._wanted is not None
        interpreter = await self._decided(self._wanted)
        self._settle(interpreter)
        # The system prompt names the version of the wanted Python.
        same = interpreter.path == self._wanted.path
        return "" if same else f"The code runs in {interpreter.path}, Python {version_of(interpreter.path)}."

    async def use(self, configured: str) -> Interpreter:
        """Choose the Python of the next start: a program, an environment's folder, or "own".

        Raises:
            KernelStartFailed: there is no such Python, or ipykernel cannot be installed for it.
        """
        if configured == OWN:
            return self._settle(own_interpreter())
        path = found_program(configured, self._environ)
        if not path:
            raise KernelStartFailed(
                f"There is no Python at {configured}.", "Name its program, or the folder of an environment."
            )
        wanted = WantedPython(path, "as you chose", configured)
        usable = has_module(wanted.path, _LAUNCHER) or not version_of(wanted.path)
        chosen = Interpreter(wanted.path, wanted.why) if usable else await self._with_kernel(wanted)
        return self._settle(chosen)

    def _settle_at_once(self) -> None:
        """Decide if that needs neither a question nor an installation."""
        wanted = self._wanted
        if wanted is None:
            self._settle(own_interpreter())
            return
        decision = self._remembered.about(wanted.key, wanted.path)
        if decision is not None and decision.how == "own":
            self._settle(own_interpreter(f"terp's own, not {wanted.name}, as you chose"))
            return
        if wanted.folder and decision is None and not wanted.agreed:
            return
        # A program without a readable environment, such as a shim, is used untested.
        if has_module(wanted.path, _LAUNCHER) or not version_of(wanted.path):
            self._settle(Interpreter(wanted.path, wanted.why))

    def _settle(self, interpreter: Interpreter) -> Interpreter:
        """Set `interpreter` for the next start, with a folder for packages and a pip for the code."""
        packages = ""
        if interpreter.path == sys.executable or not _is_writable(interpreter.path):
            digest = sha256(interpreter.path.encode())[:8]
            packages = str(self._packages / f"py{version_of(interpreter.path)}-{digest}")
        settled = replace(interpreter, packages=packages)
        # If the folder cannot be written, the code has no pip, but a kernel.
        with suppress(OSError):
            if packages:
                # Python forgets a folder that is not there when a kernel first looks for a module.
                Path(packages).mkdir(parents=True, exist_ok=True)
            settled = replace(settled, programs=pip_shims(settled, self._environ, self._shims))
        self._kernels.interpreter = settled
        return settled

    def _asks(self, wanted: WantedPython) -> bool:
        """Return True if the user must be asked: if code may run in it, or where to install ipykernel."""
        return not self._knows(wanted) or version_of(wanted.path) != version_of(own_interpreter().path)

    def _knows(self, wanted: WantedPython) -> bool:
        """Return True if no consent is missing to run code in it."""
        remembered = self._remembered.about(wanted.key, wanted.path) is not None
        return not wanted.folder or wanted.agreed or remembered

    async def _decided(self, wanted: WantedPython) -> Interpreter:
        if not self._knows(wanted):
            answer = await self._dialog.choose(_about_project(wanted))
            if answer == "n":
                self._keep(wanted, "own")
                return self._own(wanted)
            if answer != "y":
                return self._own(wanted, "The question about using it was not answered.")
            self._keep(wanted, "used")
        if has_module(wanted.path, _LAUNCHER):
            return Interpreter(wanted.path, wanted.why)
        return await self._with_kernel(wanted)

    async def _with_kernel(self, wanted: WantedPython) -> Interpreter:
        """Return `wanted` with ipykernel beside or in it, or terp's own Python instead."""
        if version_of(wanted.path) == version_of(own_interpreter().path):
            try:
                overlay = await asyncio.to_thread(linked_overlay, self._overlays)
            except OSError as error:
                raise KernelStartFailed(f"{self._overlays} cannot be written: {error.strerror}.") from error
            return Interpreter(wanted.path, f"{wanted.why}, with terp's ipykernel", overlay)
        overlay = str(self._overlays / f"py{version_of(wanted.path)}")
        if has_module_in(overlay):
            return Interpreter(wanted.path, f"{wanted.why}, with ipykernel beside it", overlay)
        match await self._dialog.choose(_about_kernel(wanted)):
            case "i":
                await self._install(wanted.path)
                return Interpreter(wanted.path, wanted.why)
            case "b":
                await self._install(wanted.path, overlay)
                return Interpreter(wanted.path, f"{wanted.why}, with ipykernel beside it", overlay)
            case "t":
                self._keep(wanted, "own")
                return self._own(wanted)
            case _:
                return self._own(
                    wanted, "It has no ipykernel. The question about installing it was not answered."
                )

    async def _install(self, python: str, target: str = "") -> None:
        try:
            async with self._dialog.working("Installing ipykernel"):
                await Installer(python, self._environ, target).install(["ipykernel"])
        except InstallFailed as error:
            raise KernelStartFailed(error.message, error.remedy) from error

    def _own(self, wanted: WantedPython, why: str = "") -> Interpreter:
        if why:
            self._dialog.notify(
                f"{wanted.name} does not run the code. {why}", f"--python {wanted.path} uses it."
            )
        return own_interpreter(f"terp's own, not {wanted.name}")

    def _keep(self, wanted: WantedPython, how: How) -> None:
        self._remembered.keep(wanted.key, wanted.path, how)


def has_module_in(overlay: str) -> bool:
    """Return True if a folder of packages contains ipykernel."""
    return (Path(overlay) / f"{_LAUNCHER}.py").exists()


def _about_project(wanted: WantedPython) -> Choice:
    version = version_of(wanted.path)
    return Choice(
        f"Run Python code in {wanted.name}{f' (Python {version})' if version else ''} of this project?",
        (Option("y", "yes"), Option("n", "no, in terp's own Python")),
        "It runs a program in the project's folder. Your answer is remembered for this folder.",
    )


def _about_kernel(wanted: WantedPython) -> Choice:
    return Choice(
        f"{wanted.name} (Python {version_of(wanted.path)}) has no ipykernel, which runs the code.",
        (
            Option("i", "install it there"),
            Option("b", "beside it, in a folder of terp's"),
            Option("t", "terp's own Python instead"),
        ),
        "Both download ipykernel from your package index.",
    )


def _program(configured: str) -> str:
    """Return the program that a setting names, or the Python of the environment in that folder."""
    path = Path(os.path.expanduser(configured))  # noqa: PTH111 - keeps a bare name a bare name
    inside = path / "bin" / "python"
    return str(inside if inside.exists() else path)


def found_program(configured: str, environ: Mapping[str, str]) -> str:
    """Return the full path of the Python that a setting names; "" if it names no program.

    Links are not followed: an environment's Python is a link, and its place decides the packages.
    """
    path = shutil.which(_program(configured), path=environ.get("PATH", ""))
    return os.path.abspath(path) if path else ""  # noqa: PTH100 - `resolve` follows links


def _is_writable(python: str) -> bool:
    folders = site_packages(python)
    return bool(folders) and os.access(folders[0], os.W_OK)
