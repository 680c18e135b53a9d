"""Install packages that code imports or names to pip and that are missing, with consent, before it runs."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Literal

from terp.events.kernel import Kernel
from terp.events.outputs import Error
from terp.kernels.environments.distributions import is_known, known_distribution, normal, wheel_modules
from terp.kernels.environments.installing import Installer, InstallFailed
from terp.kernels.sandbox.tier import NONE
from terp.models.tool import Call
from terp.person import Choice, Option
from terp.person.dialog import UserDialog
from terp.settings.interpreter import Interpreter, has_distribution, has_module, is_fixed
from terp.settings.profile_file import short_path
from terp.text.dataclasses import dataclass, replace

Policy = Literal["never", "ask", "known", "always"]

_NO_MODULE = re.compile(r"No module named '([^'.]+)")
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.\-]")
_ANSWERS = (Option("y", "yes"), Option("n", "no"), Option("a", "always in this session"))


@dataclass(frozen=True, slots=True)
class WantedPackage:
    """A missing module and the distribution to install for it; `known` if the distribution is not a guess.

    With `upgrade` it is installed, and a newer version is wanted.
    """

    module: str
    distribution: str
    known: bool
    upgrade: bool = False

    @property
    def done(self) -> str:
        """The participle for messages."""
        return "upgraded" if self.upgrade else "installed"


class MissingPackages:
    """Implements `Preparation`: installs modules that Python code imports, and `configured` packages first.

    In a sandbox it also installs the packages that pip commands name, because pip cannot write there.
    `policy`: "never", "ask" the user, install "known" distributions without asking, or "always".
    `interpreter` is the kernel's Python. Each module is tried once in a session.
    """

    def __init__(
        self,
        policy: Policy,
        configured: Sequence[str],
        interpreter: Callable[[], Interpreter],
        dialog: UserDialog,
        environ: Mapping[str, str],
    ) -> None:
        self.policy: Policy = policy
        self._configured = list(configured)
        self._interpreter = interpreter
        self._dialog = dialog
        self._environ = environ
        self._tried: set[str] = set()

    def want(self, policy: Policy, configured: Sequence[str]) -> None:
        """Set another policy, and other packages to install before the next code."""
        self.policy = policy
        self._configured = list(configured)

    def waits(self, language: str) -> bool:
        """Return True if configured packages are missing for the kernel of `language`."""
        return language == "python" and any(not self._has(name) for name in self._configured)

    async def before(self, call: Call, kernel: Kernel) -> str:
        """Install the modules that the code imports; return a note for the model."""
        if kernel.language not in ("python", "shell"):
            return ""
        notes = await self._install_configured() if kernel.language == "python" else []
        notes += await self._install_named(call, kernel)
        suspects = self._suspects(call.code, kernel.language)
        if suspects:
            # Only the kernel has its current import path.
            await kernel.start()
            notes += await self._provide(self._wanted(await kernel.missing(suspects)))
        return " ".join(notes)

    async def after(self, call: Call, kernel: Kernel, error: Error) -> str:
        """Install the module that an import did not find; return a note for the model."""
        found = _NO_MODULE.match(error.value) if error.name == "ModuleNotFoundError" else None
        if kernel.language != "python" or found is None or found[1] in self._tried:
            return ""
        notes = await self._provide(self._wanted(await kernel.missing([found[1]])))
        if notes and not await kernel.missing([found[1]]):
            notes.append("Run the code again.")
        return " ".join(notes)

    async def install(self, packages: Sequence[str], *, upgrade: bool = False) -> None:
        """Install packages, showing progress to the user.

        Raises:
            InstallFailed: they cannot be installed.
        """
        async with self._dialog.working(f"{'Upgrading' if upgrade else 'Installing'} {', '.join(packages)}"):
            await self._installer().install(packages, upgrade=upgrade)

    async def provide(self, requirements: Sequence[str]) -> list[str]:
        """Install missing packages as far as policy or user allow it; return notes on the outcome.

        Those that could not be installed before are tried again.
        """
        wanted = [self._named_wanted(one) for one in requirements if not self._has(one)]
        self._tried.difference_update(map(_key, wanted))
        return await self._provide(wanted)

    def _suspects(self, code: str, language: str) -> list[str]:
        if language != "python" or "import" not in code:
            return []
        path = self._interpreter().path
        modules = _code_needs().imported_by(code)
        return [name for name in modules if name not in self._tried and not has_module(path, name)]

    async def _install_named(self, call: Call, kernel: Kernel) -> list[str]:
        """Install the packages that pip commands name, where the sandbox prevents pip itself."""
        if "pip" not in call.code:
            return []
        named = _code_needs().named_by_pip(call.code, kernel.language, kernel.cwd)
        missing = [one for one in named if one not in self._tried and not self._has(one)]
        older = [one for one, upgrades in named.items() if upgrades and self._has(one)]
        if missing or older:
            # The kernel's tier is not known before its start.
            await kernel.start()
        if not (missing or older) or kernel.tier == NONE:
            return []
        fixed = [one for one in older if is_fixed(self._interpreter(), normal(_name_of(one)))]
        notes = [
            f"{one} is not upgraded: it is part of {_environment(self._interpreter())}, "
            "which terp does not change."
            for one in fixed
        ]
        notes += await self._provide([self._named_wanted(one) for one in missing])
        upgraded = [replace(self._named_wanted(one), upgrade=True) for one in older if one not in fixed]
        return notes + await self._provide(upgraded)

    async def _install_configured(self) -> list[str]:
        wanted = [name for name in self._configured if not self._has(name)]
        failure = await self._failure_of(wanted) if wanted else ""
        # Not before: a cancelled installation is tried again.
        self._configured.clear()
        if not wanted:
            return []
        return [failure or f"{', '.join(wanted)} was installed."]

    async def _provide(self, wanted: Sequence[WantedPackage]) -> list[str]:
        """Install or upgrade these packages if allowed; return notes for the model."""
        wanted = [one for one in wanted if _key(one) not in self._tried]
        notes = await self._allowed_and_installed(wanted)
        # Not before: a cancelled installation is tried again.
        self._tried.update(
            name for one in wanted for name in (_key(one), *(() if one.upgrade else (one.module,)))
        )
        return notes

    async def _allowed_and_installed(self, wanted: Sequence[WantedPackage]) -> list[str]:
        guessed = [one for one in wanted if not one.known]
        if self.policy == "never":
            return [f"{one.module} is not {one.done}, and terp may not install packages." for one in wanted]
        notes: list[str] = []
        if self.policy == "known" and guessed:
            notes = [_unknown(one) for one in guessed]
            names = " ".join(one.distribution for one in guessed)
            ways = f"--packages {names} (in a session /install {names}), or all with --auto-install always."
            self._dialog.notify(" ".join(notes), f"Allow it with {ways}")
            notes.append(f"The user can allow it with {ways}")
            wanted = [one for one in wanted if one.known]
        if not wanted or (self.policy == "ask" and not await self._agreed(wanted)):
            return notes + [f"{one.module} is not {one.done}: no user agreed to it." for one in wanted]
        return notes + await self._installed(wanted)

    async def _agreed(self, wanted: Sequence[WantedPackage]) -> bool:
        guessed = [one.distribution for one in wanted if not one.known]
        doubt = (
            f" terp does not know the package of {', '.join(guessed)}: that name may be another's."
            if guessed
            else ""
        )
        interpreter = self._interpreter()
        why = f"The code needs it; it goes into {short_path(_folder(interpreter))}.{doubt}"
        verb = "Upgrade" if wanted[0].upgrade else "Install"
        answer = await self._dialog.choose(Choice(f"{verb} {', '.join(map(_named, wanted))}?", _ANSWERS, why))
        if answer == "a":
            self.policy = "always"
        return answer in ("y", "a")

    async def _installed(self, wanted: Sequence[WantedPackage]) -> list[str]:
        names = list(dict.fromkeys(one.distribution for one in wanted))
        upgrade = wanted[0].upgrade
        how = (
            "is upgraded now, for what is not imported yet" if upgrade else "was missing and is installed now"
        )
        failure = await self._failure_of(names, upgrade=upgrade)
        return [failure or f"{', '.join(map(_named, wanted))} {how}."]

    async def _failure_of(self, names: Sequence[str], *, upgrade: bool = False) -> str:
        """Install these packages; return the reason of a failure, also shown to the user, or ""."""
        try:
            await self.install(names, upgrade=upgrade)
        except InstallFailed as error:
            self._dialog.notify(error.message, error.remedy)
            return error.message
        return ""

    def _wanted(self, modules: Sequence[str]) -> list[WantedPackage]:
        found = {**{one: known_distribution(one) for one in modules}, **wheel_modules(self._environ)}
        # Remove other characters: the installer could read them as an option.
        return [
            WantedPackage(one, found[one] or normal(_NOT_A_NAME.sub("", one)), bool(found[one]))
            for one in modules
        ]

    def _named_wanted(self, requirement: str) -> WantedPackage:
        name = normal(_name_of(requirement))
        wheels = map(normal, wheel_modules(self._environ).values())
        return WantedPackage(requirement, requirement, is_known(name) or name in wheels)

    def _has(self, requirement: str) -> bool:
        return has_distribution(self._interpreter(), normal(_name_of(requirement)))

    def _installer(self) -> Installer:
        interpreter = self._interpreter()
        return Installer(interpreter.path, self._environ, interpreter.packages)


def _code_needs() -> ModuleType:
    # It imports terp.analysis: 12 ms of the start.
    from terp.kernels.environments import code_needs  # noqa: PLC0415

    return code_needs


def _name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9_.\-]", requirement.strip(), maxsplit=1)[0]


def _key(wanted: WantedPackage) -> str:
    return normal(_name_of(wanted.distribution)) + (" --upgrade" if wanted.upgrade else "")


def _unknown(wanted: WantedPackage) -> str:
    if wanted.module == wanted.distribution:
        return f"{wanted.module} is not {wanted.done}: terp does not know this package."
    return f"{wanted.module} is not installed: terp does not know its package."


def _folder(interpreter: Interpreter) -> Path:
    """Return the folder for packages: the environment's, or the one beside it."""
    return Path(interpreter.packages or _environment(interpreter))


def _environment(interpreter: Interpreter) -> Path:
    return Path(interpreter.path).parent.parent


def _named(wanted: WantedPackage) -> str:
    same = normal(wanted.module) == normal(wanted.distribution)
    return wanted.distribution if same else f"{wanted.distribution} (for {wanted.module})"
