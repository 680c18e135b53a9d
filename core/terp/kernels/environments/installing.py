"""Installing with uv or pip outside the sandbox, a `pip` for code, and overlays with ipykernel."""

import asyncio
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from terp.errors import TerpError
from terp.kernels.jupyter.orphans import lifeline, supervised
from terp.settings.interpreter import Interpreter, has_module, site_packages
from terp.text.dataclasses import dataclass
from terp.text.digest import sha256
from terp.text.files import make_private
from terp.text.plain import without_escapes

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from packaging.requirements import Requirement

_SAID_LINES = 4
# Options of pip for package indexes; uv has the same, and `index` and `default-index`.
_OF_PIP = ("index-url", "extra-index-url", "find-links", "no-index")
_OF_UV = (*_OF_PIP, "index", "default-index")


class InstallFailed(TerpError):
    """Packages could not be installed; the message quotes the installer."""


@dataclass(frozen=True, slots=True)
class Installer:
    """Installs into the environment of `python`, or into the folder `target` for it.

    `environ` is the user's environment, with package indexes and proxies. Only wheels are installed unless
    `builds` is True, because building a package runs its code.
    """

    python: str
    environ: Mapping[str, str]
    target: str = ""
    builds: bool = False

    async def install(self, packages: Sequence[str], *, upgrade: bool = False) -> None:
        """Install `packages`, which are names or requirements; cancelling stops the installer.

        `upgrade` replaces an installed package with the newest version.

        Raises:
            InstallFailed: there is no installer, or it failed.
        """
        command = [
            *installing_program(self.python, self.environ),
            "install",
            *self._options(),
            *(("--upgrade",) if upgrade else ()),
            "--",
            *map(_from_anywhere, packages),
        ]
        try:
            # It may take minutes: end it when terp is killed or this is cancelled.
            with ExitStack() as line:
                process = await self._begun(command, line.enter_context(lifeline()))
                try:
                    output, _ = await process.communicate()
                finally:
                    line.close()
                    await process.wait()
        except OSError as error:
            raise InstallFailed(f"{command[0]} cannot be started: {error.strerror}.") from error
        if process.returncode:
            raise InstallFailed(
                f"{' '.join(packages)} could not be installed: {_reason(output.decode(errors='replace'))}",
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
        """Return the command line that does the same by hand."""
        target = ("--target", self.target) if self.target else ()
        return shlex.join([self.python, "-m", "pip", "install", *target, *packages])

    def _options(self) -> list[str]:
        options = ["--quiet"]
        if Path(installing_program(self.python, self.environ)[0]).name == "uv":
            options += ["--python", self.python]
        if self.target:
            options += ["--target", self.target]
        return options if self.builds else [*options, "--only-binary", ":all:"]


def installing_program(python: str, environ: Mapping[str, str], *, rather_pip: bool = False) -> list[str]:
    """Return the command of uv or pip for `python`: the one with a configured package index.

    If both or neither have one, it is uv unless `rather_pip`.

    Raises:
        InstallFailed: neither is installed, or only the one without the configured index.
    """
    uv, pip = shutil.which("uv", path=environ.get("PATH", "")), _pip_for(python)
    if not uv and not pip:
        raise InstallFailed("There is neither uv nor pip to install packages with.", "Install uv.")
    if not uv:
        return pip
    # Neither reads the other's configuration: packages would come from the public index instead.
    for_pip, for_uv = _pip_has_an_index(environ, python), _uv_has_an_index(environ)
    if pip and (for_pip > for_uv or (rather_pip and for_pip == for_uv)):
        return pip
    if for_pip > for_uv:
        raise InstallFailed(
            "An index of packages is configured for pip, which is not installed, and none for uv.",
            "Set UV_DEFAULT_INDEX to that index, or install pip beside terp.",
        )
    return [uv, "pip"]


def _pip_for(python: str) -> list[str]:
    if has_module(python, "pip"):
        return [python, "-m", "pip"]
    # Many environments contain no pip; terp's own pip can install into any.
    own = has_module(sys.executable, "pip")
    return [sys.executable, "-m", "pip", "--python", python] if own else []


def _pip_has_an_index(environ: Mapping[str, str], python: str) -> bool:
    """Return True if a variable or a file configures pip's package index."""
    if any(environ.get(_variable("PIP", option)) for option in _OF_PIP):
        return True
    if (own := environ.get("PIP_CONFIG_FILE", "")) == os.devnull:
        return False
    import configparser  # noqa: PLC0415  (most sessions install nothing)

    read = configparser.RawConfigParser(strict=False)
    home = Path(environ.get("HOME", "/"))
    folders = [*_configured_in(environ), home / "Library/Application Support"]
    places = [*(folder / "pip/pip.conf" for folder in folders), home / ".pip/pip.conf", Path("/etc/pip.conf")]
    try:
        read.read([*places, Path(python).parent.parent / "pip.conf", *([own] if own else [])])
    except (configparser.Error, UnicodeDecodeError):
        return True  # pip reports what is wrong with it
    return any(read.has_option(part, option) for part in ("global", "install") for option in _OF_PIP)


def _uv_has_an_index(environ: Mapping[str, str]) -> bool:
    """Return True if a variable or a file configures uv's package index."""
    if any(environ.get(_variable("UV", option)) for option in _OF_UV if option != "no-index"):
        return True
    own = environ.get("UV_CONFIG_FILE")
    places = [Path(own)] if own else [folder / "uv/uv.toml" for folder in _configured_in(environ)]
    for path in [*places, *([] if own else [Path("/etc/uv/uv.toml")])]:
        try:
            written = path.read_text(encoding="utf-8")
            import tomllib  # noqa: PLC0415  (5 ms of every start, and most have no such file)

            read = tomllib.loads(written)
        except OSError:
            continue
        except ValueError:
            return True  # uv reports what is wrong with it
        if any(option in table for table in (read, read.get("pip", {})) for option in _OF_UV):
            return True
    return False


def _configured_in(environ: Mapping[str, str]) -> list[Path]:
    """Return the XDG configuration folders: the user's, then the system's."""
    own = environ.get("XDG_CONFIG_HOME") or f"{environ.get('HOME', '')}/.config"
    return [Path(folder) for folder in (own, *(environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"))]


def _variable(program: str, option: str) -> str:
    return f"{program}_{option.replace('-', '_').upper()}"


def _from_anywhere(package: str) -> str:
    """Return a requirement that is a file as its full path; any other requirement unchanged."""
    return str(Path(package).absolute()) if "/" in package and Path(package).exists() else package


def _reason(output: str) -> str:
    """Return the last error lines of an installer's output, else its last lines."""
    lines = [line.strip() for line in without_escapes(output).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "×", "╰"))]
    return " ".join((errors or lines)[-_SAID_LINES:]) or "the installer failed without a message."


_SHIMS = ("pip", "pip3")
_SHIM = """\
#!/bin/sh
[ "$1" = install ] || exec {command} "$@"
if ( : > {probe} && rm {probe} ) 2>/dev/null; then
    export PIP_TARGET={packages}
    exec {command} "$@"{into}
fi
PIP_FIND_LINKS= PYTHONPATH={packages} {command} "$@"{into} {offline} 2>/dev/null && exit
echo "pip: code cannot install packages in the sandbox. terp installs, before the code runs, what the code" \
    "imports or names to pip, as far as the user allows it." >&2
exit 1
"""


def pip_shims(interpreter: Interpreter, environ: Mapping[str, str], folder: Path) -> str:
    """Return a folder below `folder` with `pip` and `pip3` for the code; "" if there is no installer.

    They install into the folder that the code imports from. In a sandbox they cannot install, and succeed
    only for packages that terp installed before the code ran.

    Raises:
        OSError: the folder cannot be written.
    """
    try:
        # uv supports only some of pip's options.
        command = installing_program(interpreter.path, environ, rather_pip=True)
    except InstallFailed:
        return ""
    is_uv, packages = command[1] != "-m", shlex.quote(interpreter.packages)
    into = f" --python {shlex.quote(interpreter.path)}" if is_uv else ""
    if is_uv and interpreter.packages:
        into += f" --target {packages}"
    script = _SHIM.format(
        command=shlex.join(command),
        # In a sandbox root cannot write there either.
        probe=shlex.quote(f"{interpreter.packages or site_packages(interpreter.path)[0]}/.terp-probe"),
        packages=packages,
        into=into,
        offline="--offline" if is_uv else "--no-index",
    )
    place = make_private(folder / sha256(script.encode())[:12])
    for name in _SHIMS:
        if not (place / name).exists():
            (place / name).write_text(script, encoding="utf-8")
            (place / name).chmod(0o700)
    return str(place)


def linked_overlay(folder: Path) -> str:
    """Return a folder below `folder` with links to terp's own ipykernel and its dependencies.

    It adds ipykernel to an environment of the same Python version without changing it. It is made once for
    each state of terp's environment.

    Raises:
        OSError: the folder cannot be written.
    """
    parts = _closure("ipykernel")
    state = "\n".join(sorted(f"{part.name}=={part.version} {part.locate_file('')}" for part in parts))
    name = f"py{sys.version_info[0]}.{sys.version_info[1]}-{sha256(state.encode())[:12]}"
    overlay = folder / name
    if not overlay.is_dir():
        make_private(folder)
        beside = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=folder))
        for part in parts:
            _link(part, beside)
        try:
            beside.rename(overlay)
        except OSError:
            # Another process was faster.
            shutil.rmtree(beside)
            if not overlay.is_dir():
                raise
    return str(overlay)


def _closure(name: str) -> "list[Distribution]":
    from importlib import metadata  # noqa: PLC0415  (with `packaging` 17 ms, and few sessions need it)

    found: dict[str, Distribution] = {}
    open_names = [name]
    while open_names:
        name = open_names.pop().lower().replace("_", "-")
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        open_names += [wanted.name for wanted in _requirements(found[name])]
    return list(found.values())


def _requirements(part: "Distribution") -> "list[Requirement]":
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415  (see `_closure`)

    wanted = []
    for text in part.requires or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            wanted.append(requirement)
    return wanted


def _link(part: "Distribution", overlay: Path) -> None:
    """Link a distribution's top-level files and packages into the overlay."""
    tops = {file.parts[0] for file in part.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        source = Path(str(part.locate_file(top)))
        if source.exists() and not (overlay / top).exists():
            (overlay / top).symlink_to(source)
