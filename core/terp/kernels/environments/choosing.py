"""Which Python runs the code of a session: decided once, before its first Python code, with consent."""

import asyncio
import hashlib
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from terp.errors import KernelStartFailed
from terp.events.kernel import Kernel
from terp.events.outputs import Error
from terp.kernels.environments.remembered import How, Remembered, remembered_in
from terp.kernels.environments.shims import pip_shims
from terp.models.tool import Call
from terp.person import Choice, Option
from terp.person.voice import Voice
from terp.settings.interpreter import Interpreter, has_module, own_interpreter, site_packages, version_of
from terp.settings.pythons import active_python, project_python

LANGUAGES = ("python", "sql")
OWN = "own"
"""How terp's own Python is called."""
_LAUNCHER = "ipykernel_launcher"


class HasInterpreter(Protocol):
    """Kernels of which one runs Python."""

    interpreter: Interpreter | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The Python that settings and surroundings ask for; `folder` is that of the project that it is of.

    A project's is asked about, unless the person has `agreed` to it with all that they trust of the project.
    """

    path: str
    why: str
    name: str
    folder: str = ""
    agreed: bool = False

    @property
    def key(self) -> str:
        """What a decision about it is remembered by: the project, else the environment."""
        return self.folder or str(Path(self.path).parent.parent)


def wanted_python(
    configured: str, environ: Mapping[str, str], cwd: str, agreed: bool | None = None
) -> Wanted | None:
    """The configured Python, that of the active environment, or the project's; None for terp's own.

    `agreed` is whether the project's may run code, where the person has decided about that.
    """
    if configured:
        return Wanted(_program(configured), "as configured", configured)
    path, variable = active_python(environ)
    if path:
        return Wanted(path, f"of {variable}", environ[variable])
    if agreed is not False and (project := project_python(cwd, environ)):
        why = f"of the project, {project.name}"
        return Wanted(project.path, why, project.name, project.folder, bool(agreed))
    return None


class PythonChoice:
    """Implements `Preparation`: sets the interpreter of `kernels` before the first Python code.

    `state` is the folder for what is remembered and for overlays.
    """

    def __init__(
        self,
        wanted: Wanted | None,
        kernels: HasInterpreter,
        voice: Voice,
        state: Path,
        environ: Mapping[str, str],
    ) -> None:
        self._wanted = wanted
        self._kernels = kernels
        self._voice = voice
        self._overlays, self._packages, self._shims = (
            state / name for name in ("overlays", "packages", "programs")
        )
        self._remembered = Remembered(remembered_in(state))
        self._environ = environ
        self._settle_at_once()

    @property
    def current(self) -> Interpreter | None:
        """The Python of the next start; None before that was decided. Can be set."""
        return self._kernels.interpreter

    @current.setter
    def current(self, interpreter: Interpreter | None) -> None:
        self._kernels.interpreter = interpreter

    def waits(self, language: str) -> bool:
        """Whether something has to be decided or made before the kernel of `language` starts.

        A shell waits for the Python whose `pip` it has, where that takes no question.
        """
        if self._wanted is None or self._kernels.interpreter is not None:
            return False
        return language in LANGUAGES or (language == "shell" and not self._asks(self._wanted))

    async def before(self, call: Call, kernel: Kernel) -> str:
        """Decide, if the code needs it and nothing was decided yet."""
        if not self.waits(kernel.language):
            return ""
        assert self._wanted is not None
        interpreter = await self._decided(self._wanted)
        self._settle(interpreter)
        # The system prompt tells the version of what was wanted.
        same = interpreter.path == self._wanted.path
        return "" if same else f"The code runs in {interpreter.path}, Python {version_of(interpreter.path)}."

    async def after(self, call: Call, kernel: Kernel, error: Error) -> str:
        """Nothing: an error of the code changes no decision."""
        return ""

    async def use(self, configured: str) -> Interpreter:
        """Choose the Python of the next start: a program, an environment's folder, or "own".

        Raises:
            KernelStartFailed: there is none, or it cannot be given ipykernel.
        """
        if configured == OWN:
            return self._settle(own_interpreter())
        path = found_program(configured, self._environ)
        if not path:
            raise KernelStartFailed(
                f"There is no Python at {configured}.", "Name its program, or the folder of an environment."
            )
        wanted = Wanted(path, "as you chose", configured)
        bare = has_module(wanted.path, _LAUNCHER) or not version_of(wanted.path)
        chosen = Interpreter(wanted.path, wanted.why) if bare else await self._with_kernel(wanted)
        return self._settle(chosen)

    def _settle_at_once(self) -> None:
        """Decide what needs neither an answer nor work."""
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
        # What runs without files of its own to look at, such as a shim, is tried as it is.
        if has_module(wanted.path, _LAUNCHER) or not version_of(wanted.path):
            self._settle(Interpreter(wanted.path, wanted.why))

    def _settle(self, interpreter: Interpreter) -> Interpreter:
        """Take `interpreter` for the next start, with a place for packages and a pip for the code."""
        packages = ""
        if interpreter.path == sys.executable or not _is_writable(interpreter.path):
            digest = hashlib.sha256(interpreter.path.encode()).hexdigest()[:8]
            packages = str(self._packages / f"py{version_of(interpreter.path)}-{digest}")
        settled = replace(interpreter, packages=packages)
        # A folder that cannot be written costs the code its pip, not its kernel.
        with suppress(OSError):
            if packages:
                # Python forgets a folder that is not there when a kernel first looks for a module.
                Path(packages).mkdir(parents=True, exist_ok=True)
            settled = replace(settled, programs=pip_shims(settled, self._environ, self._shims))
        self._kernels.interpreter = settled
        return settled

    def _asks(self, wanted: Wanted) -> bool:
        """Whether a person has to say that code may run in it, or where ipykernel goes."""
        return not self._knows(wanted) or version_of(wanted.path) != version_of(own_interpreter().path)

    def _knows(self, wanted: Wanted) -> bool:
        """Whether the person has said that code may run in it, or nobody has to."""
        remembered = self._remembered.about(wanted.key, wanted.path) is not None
        return not wanted.folder or wanted.agreed or remembered

    async def _decided(self, wanted: Wanted) -> Interpreter:
        if not self._knows(wanted):
            answer = await self._voice.choose(_about_project(wanted))
            if answer == "n":
                self._keep(wanted, "own")
                return self._own(wanted)
            if answer != "y":
                return self._own(wanted, "Nobody answered whether to use it.")
            self._keep(wanted, "used")
        if has_module(wanted.path, _LAUNCHER):
            return Interpreter(wanted.path, wanted.why)
        return await self._with_kernel(wanted)

    async def _with_kernel(self, wanted: Wanted) -> Interpreter:
        """`wanted` with ipykernel beside or in it, or terp's own Python instead."""
        # With what reads the metadata of packages: most sessions need nothing of it.
        from terp.kernels.environments.overlay import linked_overlay  # noqa: PLC0415

        if version_of(wanted.path) == version_of(own_interpreter().path):
            try:
                overlay = await asyncio.to_thread(linked_overlay, self._overlays)
            except OSError as error:
                raise KernelStartFailed(f"{self._overlays} cannot be written: {error.strerror}.") from error
            return Interpreter(wanted.path, f"{wanted.why}, with terp's ipykernel", overlay)
        overlay = str(self._overlays / f"py{version_of(wanted.path)}")
        if has_module_in(overlay):
            return Interpreter(wanted.path, f"{wanted.why}, with ipykernel beside it", overlay)
        match await self._voice.choose(_about_kernel(wanted)):
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
                return self._own(wanted, "It has no ipykernel. Nobody answered what to do about it.")

    async def _install(self, python: str, target: str = "") -> None:
        from terp.kernels.environments.installing import Installer, InstallFailed  # noqa: PLC0415  (see `_with_kernel`)

        try:
            async with self._voice.working("Installing ipykernel"):
                await Installer(python, self._environ, target).install(["ipykernel"])
        except InstallFailed as error:
            raise KernelStartFailed(error.message, error.remedy) from error

    def _own(self, wanted: Wanted, why: str = "") -> Interpreter:
        if why:
            self._voice.tell(
                f"{wanted.name} does not run the code. {why}", f"--python {wanted.path} uses it."
            )
        return own_interpreter(f"terp's own, not {wanted.name}")

    def _keep(self, wanted: Wanted, how: How) -> None:
        self._remembered.keep(wanted.key, wanted.path, how)


def has_module_in(overlay: str) -> bool:
    """Whether a folder of packages holds ipykernel."""
    return (Path(overlay) / f"{_LAUNCHER}.py").exists()


def _about_project(wanted: Wanted) -> Choice:
    version = version_of(wanted.path)
    return Choice(
        f"Run Python code in {wanted.name}{f' (Python {version})' if version else ''} of this project?",
        (Option("y", "yes"), Option("n", "no, in terp's own Python")),
        "It starts what the project's folder holds. Your answer is remembered for this folder.",
    )


def _about_kernel(wanted: Wanted) -> Choice:
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
    """The program that a setting names: itself, or the Python of the environment at this folder."""
    path = Path(os.path.expanduser(configured))  # noqa: PTH111 - keeps a bare name a bare name
    inside = path / "bin" / "python"
    return str(inside if inside.exists() else path)


def found_program(configured: str, environ: Mapping[str, str]) -> str:
    """The full path of the Python that a setting names; "" where none can be started there.

    A link is not followed: the program of an environment is one, and is more than what it links to.
    """
    path = shutil.which(_program(configured), path=environ.get("PATH", ""))
    return os.path.abspath(path) if path else ""  # noqa: PTH100 - `resolve` follows links


def _is_writable(python: str) -> bool:
    folders = site_packages(python)
    return bool(folders) and os.access(folders[0], os.W_OK)
