"""Packages that code imports and that are not there: installed with consent, before the code runs."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from terp.installing import Installer, InstallFailed
from terp.kernels.protocol import Kernel
from terp.outputs import Error
from terp.packages.distributions import known_distribution, normal
from terp.packages.wheels import wheel_modules
from terp.person import Choice, Option
from terp.profile_file import short_path
from terp.pythons.interpreter import Interpreter, has_distribution, has_module
from terp.tool import Call
from terp.voice import Voice

Policy = Literal["never", "ask", "known", "always"]

_NO_MODULE = re.compile(r"No module named '([^'.]+)")
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.\-]")
_ANSWERS = (Option("y", "yes"), Option("n", "no"), Option("a", "always in this session"))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A module that is missing, and the distribution to install for it; `known` if that is no guess."""

    module: str
    distribution: str
    known: bool


class MissingPackages:
    """Implements `Preparation`: installs what Python code imports, and before it `configured` packages.

    `policy` says whether: "never", "ask" the person, whatever is "known" without asking, or "always".
    `interpreter` is the Python of the kernel. Each module is tried once in a session.
    """

    def __init__(
        self,
        policy: Policy,
        configured: Sequence[str],
        interpreter: Callable[[], Interpreter],
        voice: Voice,
        environ: Mapping[str, str],
    ) -> None:
        self.policy: Policy = policy
        self._configured = list(configured)
        self._interpreter = interpreter
        self._voice = voice
        self._environ = environ
        self._tried: set[str] = set()

    def want(self, policy: Policy, configured: Sequence[str]) -> None:
        """Go by another policy, and have other packages there before the next code."""
        self.policy = policy
        self._configured = list(configured)

    def waits(self, language: str) -> bool:
        """Whether configured packages have to be there before the kernel of `language` starts."""
        return language == "python" and any(not self._has(name) for name in self._configured)

    async def before(self, call: Call, kernel: Kernel) -> str:
        """Install what the code imports."""
        if kernel.language != "python":
            return ""
        told = await self._install_configured()
        suspects = self._suspects(call.code)
        if suspects:
            # Only the kernel knows what its path holds by now.
            await kernel.start()
            told += await self._provide(await kernel.missing(suspects))
        return " ".join(told)

    async def after(self, call: Call, kernel: Kernel, error: Error) -> str:
        """Install the module that an import did not find, so that the code can run again."""
        found = _NO_MODULE.match(error.value) if error.name == "ModuleNotFoundError" else None
        if kernel.language != "python" or found is None or found[1] in self._tried:
            return ""
        told = await self._provide(await kernel.missing([found[1]]))
        if told and not await kernel.missing([found[1]]):
            told.append("Run the code again.")
        return " ".join(told)

    async def install(self, packages: Sequence[str]) -> None:
        """Install what the person asked for; shown while it goes on.

        Raises:
            InstallFailed: it cannot be installed.
        """
        async with self._voice.working(f"Installing {', '.join(packages)}"):
            await self._installer().install(packages)

    def _suspects(self, code: str) -> list[str]:
        if "import" not in code:
            return []
        from terp.effects.cells import python_in  # noqa: PLC0415  (it reads code, with all it knows of names)
        from terp.packages.imports import needed  # noqa: PLC0415

        tree, path = python_in(code), self._interpreter().path
        modules = needed(tree) if tree else ()
        return [name for name in modules if name not in self._tried and not has_module(path, name)]

    async def _install_configured(self) -> list[str]:
        wanted = [name for name in self._configured if not self._has(name)]
        failure = await self._failure_of(wanted) if wanted else ""
        # Not before: what is cancelled is tried anew.
        self._configured.clear()
        if not wanted:
            return []
        return [failure or f"{', '.join(wanted)} was installed."]

    async def _provide(self, modules: Sequence[str]) -> list[str]:
        """Install these modules as far as that is allowed; what the model should know."""
        told = await self._allowed_and_installed(modules)
        # Not before: what is cancelled is tried anew.
        self._tried.update(modules)
        return told

    async def _allowed_and_installed(self, modules: Sequence[str]) -> list[str]:
        wanted = [self._wanted(module) for module in modules]
        guessed = [one.module for one in wanted if not one.known]
        if self.policy == "never":
            return [f"{module} is not installed, and terp may not install packages." for module in modules]
        told: list[str] = []
        if self.policy == "known" and guessed:
            told = [f"{module} is not installed, and terp does not know its package." for module in guessed]
            self._voice.tell(" ".join(told), "/install NAME or --packages NAME installs a package.")
            wanted = [one for one in wanted if one.known]
        if not wanted or (self.policy == "ask" and not await self._agreed(wanted)):
            return told + [f"{one.module} is not installed: nobody agreed to it." for one in wanted]
        return told + await self._installed(wanted)

    async def _agreed(self, wanted: Sequence[Wanted]) -> bool:
        guessed = [one.distribution for one in wanted if not one.known]
        doubt = (
            f" terp does not know the package of {', '.join(guessed)}: what is called so may be another's."
            if guessed
            else ""
        )
        interpreter = self._interpreter()
        why = f"The code imports it; it goes into {short_path(_folder(interpreter))}.{doubt}"
        answer = await self._voice.choose(Choice(f"Install {', '.join(map(_named, wanted))}?", _ANSWERS, why))
        if answer == "a":
            self.policy = "always"
        return answer in ("y", "a")

    async def _installed(self, wanted: Sequence[Wanted]) -> list[str]:
        names = list(dict.fromkeys(one.distribution for one in wanted))
        failure = await self._failure_of(names)
        return [failure or f"{', '.join(map(_named, wanted))} was missing and is installed now."]

    async def _failure_of(self, names: Sequence[str]) -> str:
        """Install these packages; why that failed, which the person is told, or ""."""
        try:
            await self.install(names)
        except InstallFailed as error:
            self._voice.tell(error.message, error.remedy)
            return error.message
        return ""

    def _wanted(self, module: str) -> Wanted:
        distribution = wheel_modules(self._environ).get(module) or known_distribution(module)
        # A module's name is an identifier; what else could stand here is for the installer no option.
        return Wanted(module, distribution or normal(_NOT_A_NAME.sub("", module)), bool(distribution))

    def _has(self, requirement: str) -> bool:
        name = re.split(r"[^A-Za-z0-9_.\-]", requirement.strip(), maxsplit=1)[0]
        interpreter = self._interpreter()
        return has_distribution(interpreter, normal(name))

    def _installer(self) -> Installer:
        interpreter = self._interpreter()
        return Installer(interpreter.path, self._environ, interpreter.packages)


def _folder(interpreter: Interpreter) -> Path:
    """Where packages go: the environment's own folder, or the one beside it."""
    return Path(interpreter.packages or Path(interpreter.path).parent.parent)


def _named(wanted: Wanted) -> str:
    same = normal(wanted.module) == normal(wanted.distribution)
    return wanted.distribution if same else f"{wanted.distribution} (for {wanted.module})"
