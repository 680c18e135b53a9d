"""The Pythons of a machine and a project, found and described from files, without starting any."""

import base64
import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from terp.settings.places import xdg_folder
from terp.settings.project.folders import upwards
from terp.text.dataclasses import dataclass
from terp.text.files import Refused, read_bounded

_SITES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "local/lib/python3*/dist-packages")
_LARGEST_CONFIG = 64 * 1024
_GENERIC_NAMES = (".venv", "venv", "env", "default")
_IN_PROJECT = (".venv", "venv", ".pixi/envs/default")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that runs the kernel, and why it was chosen.

    `overlay` is a folder with ipykernel for an environment that has none. `packages` is a folder for
    installed packages if the environment is terp's own or cannot be written. Both come after the
    environment's own packages, and processes that the code starts do not use them. `programs` is a folder
    with the `pip` of this Python.
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
    """Return the folders that contain a Python and its packages."""
    path = Path(interpreter.path)
    programs = (interpreter.programs,) if interpreter.programs else ()
    prefixes = dict.fromkeys(str(one.parent.parent) for one in (path, path.resolve()))
    return (*(one for one in prefixes if one != "/"), *interpreter.folders, *programs)


def own_interpreter(why: str = "terp's own") -> Interpreter:
    """Return the Python that runs terp."""
    return Interpreter(sys.executable, why)


def environment_name(interpreter: Interpreter | None) -> str:
    """Return the environment's name for users: `.venv of shop`, `data`; "" for terp's own, or none yet."""
    if interpreter is None or interpreter.path == sys.executable:
        return ""
    prefix = Path(interpreter.path).parent.parent
    if prefix.name in ("", "usr", "local"):
        return interpreter.path
    return f"{prefix.name} of {prefix.parent.name}" if prefix.name in _GENERIC_NAMES else prefix.name


def site_packages(python: str) -> list[Path]:
    """Return the folders that hold the packages of a Python's environment."""
    prefix = Path(python).parent.parent
    return [found for folder in _SITES for found in prefix.glob(folder)]


def has_distribution(interpreter: Interpreter, name: str) -> bool:
    """Return True if a distribution is installed, given by its normalized name."""
    return _holds((*site_packages(interpreter.path), *map(Path, interpreter.folders)), name)


def is_fixed(interpreter: Interpreter, name: str) -> bool:
    """Return True if the environment itself has a distribution, but packages go into another folder.

    Another version in that folder would not be imported.
    """
    return bool(interpreter.packages) and _holds(site_packages(interpreter.path), name)


def _holds(folders: Iterable[Path], name: str) -> bool:
    names = (found.name.partition("-")[0] for folder in folders for found in folder.glob("*.dist-info"))
    return any(re.sub(r"[-_.]+", "-", found).lower() == name for found in names)


def has_module(python: str, name: str) -> bool:
    """Return True if a top-level module `name` lies in a Python's own folders.

    Folders added by `.pth` files are not searched.
    """
    return any(
        (folder / f"{name}{end}").exists() or (end and any(folder.glob(f"{name}.*.so")))
        for folder in site_packages(python)
        for end in ("", ".py")
    )


def present_packages(python: str, names: Iterable[str]) -> list[str]:
    """Return the packages in the folders of a Python, by their import names."""
    there = {found.name for folder in site_packages(python) for found in folder.iterdir()}
    return [name for name in names if name in there]


def version_of(python: str) -> str:
    """Return the version of a Python, as `3.12`; "" if unknown."""
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


@dataclass(frozen=True, slots=True)
class ProjectPython:
    """A Python that belongs to the project in `folder`: running it runs code of the project."""

    path: str
    folder: str

    @property
    def name(self) -> str:
        """The name of the environment for users: its path in the project, if it is there."""
        prefix, folder = Path(self.path).parent.parent, Path(self.folder)
        return str(prefix.relative_to(folder)) if prefix.is_relative_to(folder) else str(prefix)


def active_python(environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the Python of the activated environment and the variable that names it; empty without one."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = environ.get(variable, "")
        if prefix and (path := _python_in(Path(prefix))):
            return path, variable
    return "", ""


def project_python(cwd: str, environ: Mapping[str, str]) -> ProjectPython | None:
    """Return the Python of the project that `cwd` is in: of its folders, or of Poetry's or Pipenv's own.

    None also if terp itself runs in it: its code already runs, so it needs no trust.
    """
    for folder in upwards(Path(cwd), environ):
        for prefix in _environments(folder, environ):
            if path := _python_in(prefix):
                return None if _is_own(prefix) else ProjectPython(path, str(folder))
    return None


def suggested_python(cwd: str, environ: Mapping[str, str]) -> ProjectPython | None:
    """Return the Python of the project, unless an environment is activated, which takes precedence."""
    return None if active_python(environ)[0] else project_python(cwd, environ)


def needed_around(cwd: str, environ: Mapping[str, str], chosen: Interpreter) -> tuple[str, ...]:
    """Return the folders of the Pythons around `cwd`: the chosen one, and those that may be chosen later.

    terp itself starts them, to install packages.
    """
    active, project = active_python(environ)[0], project_python(cwd, environ)
    others = [active, project.path if project else ""]
    pythons = [chosen, *(Interpreter(path, "") for path in others if path)]
    return tuple(dict.fromkeys(folder for python in pythons for folder in needed_by(python)))


def _environments(folder: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    if (named := environ.get("UV_PROJECT_ENVIRONMENT", "")) and (folder / "uv.lock").exists():
        yield folder / named
    yield from (folder / name for name in _IN_PROJECT)
    # The names of both tools' environments end with a digest of the project's path (their documentation).
    if (folder / "poetry.lock").exists():
        cache = xdg_folder(environ, "XDG_CACHE_HOME", ".cache")
        base = environ.get("POETRY_VIRTUALENVS_PATH") or cache / "pypoetry/virtualenvs"
        yield from sorted(Path(base).glob(f"*-{_digest(os.path.normcase(folder.resolve()))}-py3*"))
    if (folder / "Pipfile").exists():
        data = xdg_folder(environ, "XDG_DATA_HOME", ".local/share")
        base = environ.get("WORKON_HOME") or data / "virtualenvs"
        yield from sorted(Path(base).glob(f"*-{_digest(str(folder / 'Pipfile'))}*"))


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()[:8]


def _is_own(prefix: Path) -> bool:
    return os.path.realpath(prefix) == os.path.realpath(sys.prefix)


def _python_in(prefix: Path) -> str:
    path = prefix / "bin" / "python"
    return str(path) if os.access(path, os.X_OK) else ""
