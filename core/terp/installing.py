"""Packages put into a Python by uv or pip, which terp runs in its own process and environment."""

import asyncio
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from terp.errors import TerpError
from terp.kernels.orphans import lifeline, supervised
from terp.plain import without_escapes
from terp.pythons.interpreter import has_module

_SAID_LINES = 4


class InstallFailed(TerpError):
    """Packages could not be installed; the message tells what the installer said."""


@dataclass(frozen=True, slots=True)
class Installer:
    """Installs into the environment of `python`, or with `target` into a folder for it.

    `environ` is the person's: it holds where packages come from, and through which proxy. Only wheels are
    taken unless `builds` are agreed to, since building a package runs its code.
    """

    python: str
    environ: Mapping[str, str]
    target: str = ""
    builds: bool = False

    async def install(self, packages: Sequence[str]) -> None:
        """Install `packages`, which are names or requirements; cancelling stops the installer.

        Raises:
            InstallFailed: there is no installer, or it failed.
        """
        command = [*self._program(), "install", *self._options(), "--", *map(_from_anywhere, packages)]
        try:
            # It may take minutes, and nobody wants it any more when terp is killed or this is cancelled.
            with ExitStack() as line:
                process = await self._begun(command, line.enter_context(lifeline()))
                try:
                    said, _ = await process.communicate()
                finally:
                    line.close()
                    await process.wait()
        except OSError as error:
            raise InstallFailed(f"{command[0]} cannot be started: {error.strerror}.") from error
        if process.returncode:
            raise InstallFailed(
                f"{' '.join(packages)} could not be installed: {_reason(said.decode(errors='replace'))}",
                f"Try it by hand: {self.by_hand(packages)}",
            )

    async def _begun(self, command: Sequence[str], stdin: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *supervised(command),
            # uv and pip look for their configuration, and Python for modules, where they are started.
            cwd="/",
            env={**self.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"},
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )

    def by_hand(self, packages: Sequence[str]) -> str:
        """The command line with which a person would do the same."""
        target = ("--target", self.target) if self.target else ()
        return shlex.join([self.python, "-m", "pip", "install", *target, *packages])

    def _program(self) -> list[str]:
        if uv := shutil.which("uv", path=self.environ.get("PATH", "")):
            return [uv, "pip"]
        # uv and pip leave environments without pip alone, so terp's own pip works for all.
        if has_module(self.python, "pip"):
            return [self.python, "-m", "pip"]
        if has_module(sys.executable, "pip"):
            return [sys.executable, "-m", "pip", "--python", self.python]
        raise InstallFailed("There is neither uv nor pip to install packages with.", "Install uv.")

    def _options(self) -> list[str]:
        options = ["--quiet"]
        if Path(self._program()[0]).name == "uv":
            options += ["--python", self.python]
        if self.target:
            options += ["--target", self.target]
        return options if self.builds else [*options, "--only-binary", ":all:"]


def _from_anywhere(package: str) -> str:
    """A file of the working directory by its full path; what is no file by its name."""
    return str(Path(package).absolute()) if "/" in package and Path(package).exists() else package


def _reason(said: str) -> str:
    """What an installer said, without what repeats in every failure."""
    lines = [line.strip() for line in without_escapes(said).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "×", "╰"))]
    return " ".join((errors or lines)[-_SAID_LINES:]) or "the installer failed and said nothing."
