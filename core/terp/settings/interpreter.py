"""A Python on this machine, and what its files tell without starting it."""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from terp.settings.project.bounded import Refused, read_bounded

_SITES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "local/lib/python3*/dist-packages")
_LARGEST_CONFIG = 64 * 1024
_UNTELLING = (".venv", "venv", "env", "default")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that runs the kernel, and why it was chosen.

    `overlay` is a folder with ipykernel for an environment that has none, and `packages` one into which
    packages are installed in place of the environment, where that is terp's own or cannot be written. What
    lies in them comes after the environment's own, and no process that the code starts sees it. `programs`
    is a folder with the `pip` that serves this Python.
    """

    path: str
    why: str
    overlay: str = ""
    packages: str = ""
    programs: str = ""

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of packages that are not the environment's own."""
        return tuple(folder for folder in (self.overlay, self.packages) if folder)


def needed_by(interpreter: Interpreter) -> tuple[str, ...]:
    """The folders that a Python and its packages are read from."""
    path = Path(interpreter.path)
    programs = (interpreter.programs,) if interpreter.programs else ()
    prefixes = dict.fromkeys(str(one.parent.parent) for one in (path, path.resolve()))
    return (*(one for one in prefixes if one != "/"), *interpreter.folders, *programs)


def own_interpreter(why: str = "terp's own") -> Interpreter:
    """The Python that runs terp."""
    return Interpreter(sys.executable, why)


def environment_name(interpreter: Interpreter | None) -> str:
    """The environment as people call it: `.venv of shop`, `data`; "" for terp's own, or none yet."""
    if interpreter is None or interpreter.path == sys.executable:
        return ""
    prefix = Path(interpreter.path).parent.parent
    if prefix.name in ("", "usr", "local"):
        return interpreter.path
    return f"{prefix.name} of {prefix.parent.name}" if prefix.name in _UNTELLING else prefix.name


def site_packages(python: str) -> list[Path]:
    """The folders that hold the packages of a Python's environment."""
    prefix = Path(python).parent.parent
    return [found for folder in _SITES for found in prefix.glob(folder)]


def has_distribution(interpreter: Interpreter, name: str) -> bool:
    """Return True if a distribution is there, by its normal name."""
    return _holds((*site_packages(interpreter.path), *map(Path, interpreter.folders)), name)


def is_fixed(interpreter: Interpreter, name: str) -> bool:
    """Return True if the environment itself holds a distribution, and packages are installed beside it.

    Another version beside it would not be found.
    """
    return bool(interpreter.packages) and _holds(site_packages(interpreter.path), name)


def _holds(folders: Iterable[Path], name: str) -> bool:
    names = (found.name.partition("-")[0] for folder in folders for found in folder.glob("*.dist-info"))
    return any(re.sub(r"[-_.]+", "-", found).lower() == name for found in names)


def has_module(python: str, name: str) -> bool:
    """Whether a Python can import the top-level module `name`, as far as its own folders tell.

    What its environment adds otherwise, such as a `.pth` file, is not seen.
    """
    return any(
        (folder / f"{name}{end}").exists() or (end and any(folder.glob(f"{name}.*.so")))
        for folder in site_packages(python)
        for end in ("", ".py")
    )


def present_packages(python: str, names: Iterable[str]) -> list[str]:
    """Those of the packages, named as they are imported, that lie in the folders of a Python."""
    there = {found.name for folder in site_packages(python) for found in folder.iterdir()}
    return [name for name in names if name in there]


def version_of(python: str) -> str:
    """The version of a Python, as `3.12`; "" when its folders do not tell."""
    if python == sys.executable:
        return "{}.{}".format(*sys.version_info)
    prefix = Path(python).parent.parent
    try:
        lines = read_bounded(prefix / "pyvenv.cfg", _LARGEST_CONFIG).decode(errors="replace").splitlines()
    except Refused:
        lines = []
    stated = dict(line.replace(" ", "").split("=", 1) for line in lines if "=" in line)
    # venv writes `version`, uv and virtualenv `version_info`.
    if full := stated.get("version") or stated.get("version_info"):
        return ".".join(full.split(".")[:2])
    found = {folder.name.removeprefix("python") for folder in prefix.glob("lib/python3.*")}
    return found.pop() if len(found) == 1 else ""
