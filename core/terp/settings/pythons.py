"""The Pythons that a working directory and an environment suggest, found without starting anything."""

import base64
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from terp.settings.interpreter import Interpreter, needed_by
from terp.settings.project.folders import upwards

_IN_PROJECT = (".venv", "venv", ".pixi/envs/default")


@dataclass(frozen=True, slots=True)
class ProjectPython:
    """A Python that belongs to the project in `folder`: running it runs code of the project."""

    path: str
    folder: str

    @property
    def name(self) -> str:
        """The environment, as people call it: relative to the project where it lies in it."""
        prefix, folder = Path(self.path).parent.parent, Path(self.folder)
        return str(prefix.relative_to(folder)) if prefix.is_relative_to(folder) else str(prefix)


def active_python(environ: Mapping[str, str]) -> tuple[str, str]:
    """The Python of the activated environment and the variable that names it; empty without one."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = environ.get(variable, "")
        if prefix and (path := _python_in(Path(prefix))):
            return path, variable
    return "", ""


def project_python(cwd: str, environ: Mapping[str, str]) -> ProjectPython | None:
    """The Python of the project that `cwd` is in: of its folders, or of Poetry's or Pipenv's own.

    None also if it is the one that terp itself runs in: its code runs already, so nothing is left to trust.
    """
    for folder in upwards(Path(cwd), environ):
        for prefix in _environments(folder, environ):
            if path := _python_in(prefix):
                return None if _is_own(prefix) else ProjectPython(path, str(folder))
    return None


def suggested_python(cwd: str, environ: Mapping[str, str]) -> ProjectPython | None:
    """The Python of the project, unless the person has activated an environment: that is a choice already."""
    return None if active_python(environ)[0] else project_python(cwd, environ)


def needed_around(cwd: str, environ: Mapping[str, str], chosen: Interpreter) -> tuple[str, ...]:
    """The folders that the Pythons around `cwd` are read from: the chosen one, and what may be chosen later.

    terp itself starts them, to install into them.
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
        base = environ.get("POETRY_VIRTUALENVS_PATH") or _cache(environ, "pypoetry/virtualenvs")
        yield from sorted(Path(base).glob(f"*-{_digest(os.path.normcase(folder.resolve()))}-py3*"))
    if (folder / "Pipfile").exists():
        base = environ.get("WORKON_HOME") or _data(environ, "virtualenvs")
        yield from sorted(Path(base).glob(f"*-{_digest(str(folder / 'Pipfile'))}*"))


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()[:8]


def _cache(environ: Mapping[str, str], name: str) -> str:
    home = environ.get("HOME", "")
    return os.path.join(environ.get("XDG_CACHE_HOME") or f"{home}/.cache", name)  # noqa: PTH118


def _data(environ: Mapping[str, str], name: str) -> str:
    home = environ.get("HOME", "")
    return os.path.join(environ.get("XDG_DATA_HOME") or f"{home}/.local/share", name)  # noqa: PTH118


def _is_own(prefix: Path) -> bool:
    return os.path.realpath(prefix) == os.path.realpath(sys.prefix)


def _python_in(prefix: Path) -> str:
    path = prefix / "bin" / "python"
    return str(path) if os.access(path, os.X_OK) else ""
