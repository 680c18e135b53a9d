"""Which tool files a session reads, and what they declare. Their code is not run here."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from terp.errors import SettingsError
from terp.places import Places
from terp.profile_file import short_path
from terp.settings import Settings
from terp.tools.declared import Declared
from terp.tools.shipped import shipped_tools
from terp.tools.toolbox import Toolbox, together

OWN_FILES = ("tools.py", "tools.yaml", "tools.yml", "tools.json")
"""The tool files that are read from the person's configuration when they are there."""
LARGEST_BYTES = 1_000_000
_PROJECT = ".terp"
_SUFFIXES = {".py", ".yaml", ".yml", ".json"}


class RunsPython(Protocol):
    """Kernels, and the directory that they start in."""

    @property
    def cwd(self) -> str:
        """The person's directory."""

    @property
    def languages(self) -> Sequence[str]:
        """What can run in them."""


def read_toolbox(
    settings: Settings, environ: Mapping[str, str], places: Places, kernels: RunsPython
) -> Toolbox:
    """The tools that settings and the person's configuration name, after those that terp brings.

    Without Python among the languages there are none.

    Raises:
        SettingsError: a file that the settings name cannot be read.
    """
    if "python" not in kernels.languages:
        return Toolbox()
    cwd = kernels.cwd
    named = [Path(cwd, Path(name).expanduser()) for name in settings.tools]
    own = [path for name in OWN_FILES if (path := places.config / name).is_file()]
    sources: dict[str, str] = {}
    read: list[Declared] = []
    problems = _untrusted(Path(cwd), [*named, *own])
    for path in dict.fromkeys([*own, *named]):
        try:
            text = _text(path)
        except SettingsError as error:
            if path in named:
                raise
            problems += error.problems
            continue
        read.append(_declared(path, text))
        if path.suffix == ".py":
            sources[str(path)] = text
    tools = together([shipped_tools(settings, environ), *(file.tools for file in read)])
    return Toolbox(
        tools, tuple(problem for file in read for problem in file.problems) + tuple(problems), sources
    )


def _declared(path: Path, text: str) -> Declared:
    # Few sessions have tool files of one kind, hardly any of both.
    if path.suffix == ".py":
        from terp.tools.python_files import read_python  # noqa: PLC0415

        return read_python(text, short_path(path), str(path))
    from terp.tools.declarations import read_declarations  # noqa: PLC0415

    return read_declarations(text, short_path(path), as_json=path.suffix == ".json")


def _text(path: Path) -> str:
    place = short_path(path)
    if path.suffix not in _SUFFIXES:
        raise SettingsError([f"tools: '{place}' is no tool file: these end in .py, .yaml or .json."])
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise SettingsError([f"tools: '{place}' cannot be read: {error.strerror}."]) from error
    if len(raw) > LARGEST_BYTES:
        raise SettingsError([f"tools: '{place}' is larger than 1 MB."])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SettingsError([f"{place}:{line}: this line is not UTF-8; save the file as UTF-8."]) from error


def _untrusted(cwd: Path, named: list[Path]) -> list[str]:
    """A line about tool files of the project, which are only read where the person has named them."""
    found = [path for name in OWN_FILES if (path := cwd / _PROJECT / name).is_file() and path not in named]
    return [
        f"{short_path(path)} was not read: terp takes no tools from a project by itself. "
        f"If you trust it, name it with --tools {short_path(path)}."
        for path in found
    ]
