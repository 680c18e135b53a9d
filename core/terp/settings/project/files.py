"""A project: the folders around the directory of a session, and its settings, instructions and tools.

No file takes effect before the user trusts it: `Trust` is called with the exact bytes that would be used.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from terp.errors import SettingsError
from terp.settings.interpreter import ProjectPython, suggested_python
from terp.settings.places import Places
from terp.settings.project.folders import folders_of
from terp.text.dataclasses import dataclass
from terp.text.files import Refused, read_bounded

Trust = Callable[[Path, bytes], bool]
"""Returns True if the user trusts a file of a project that holds these bytes."""

LARGEST_BYTES = 64 * 1024
LARGEST_TOOLS_BYTES = 1_000_000
LARGEST_SKILL_BYTES = 256 * 1024
TOOLS = tuple(f".terp/{name}" for name in ("tools.py", "tools.yaml", "tools.yml", "tools.json"))
SETTINGS = (".terp/local.yaml", ".terp/profile.yaml")
"""Files of settings, the stronger one first, which is not shared with others."""
SKILLS = (".claude/skills", ".agents/skills")
"""Folders of skills, the stronger one last: a folder with a `SKILL.md` for each."""
SKILL_FILE = "SKILL.md"
COMMANDS = (".claude/commands", ".terp/commands")
"""Folders of the project's own commands, the stronger one last: a Markdown file for each."""
MOST_FILES = 500
"""Limit of the files in one folder of a project."""
INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
"""The names of files with instructions; in a folder with both, the first counts."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A trusted file of a project, with its content at the time of that decision."""

    path: Path
    content: bytes


@dataclass(frozen=True, slots=True)
class Project:
    """The trusted settings, instructions and tools of the project around a working directory.

    `settings` are the trusted files of settings, the strongest first; `instructions` those of instructions,
    the nearest to the working directory last; `tools` those that declare functions; `skills` and `commands`
    the Markdown files of those, the strongest last. `python` is True if its environment may run code; None:
    undecided, or there is no environment. `ignored` are the files that are not trusted, and `problems` has a
    line for each that cannot be used.
    """

    cwd: Path
    root: Path
    settings: tuple[ProjectFile, ...] = ()
    instructions: tuple[ProjectFile, ...] = ()
    tools: tuple[ProjectFile, ...] = ()
    skills: tuple[ProjectFile, ...] = ()
    commands: tuple[ProjectFile, ...] = ()
    python: bool | None = None
    ignored: tuple[Path, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[ProjectFile, ...]:
        """All trusted files."""
        return (*self.settings, *self.instructions, *self.tools, *self.skills, *self.commands)

    @property
    def notices(self) -> tuple[str, ...]:
        """Return lines about files that are left out."""
        if not self.ignored:
            return self.problems
        names = ", ".join(name_below(self.root, one) for one in self.ignored)
        notice = f"this project is not trusted, so nothing is taken from it: {names}. See: terp trust"
        return (notice, *self.problems)


def name_below(root: Path, path: Path) -> str:
    """Return a path as it is named below a folder; the whole path elsewhere."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def nothing_is_trusted(_path: Path, _content: bytes) -> bool:
    """Return False: implements `Trust` for a user who was not asked."""
    return False


def bare_project(cwd: str | Path) -> Project:
    """Return the project around `cwd` as if there were no file in it."""
    here = Path(cwd or Path.cwd()).absolute()
    return Project(here, here)


def read_project(cwd: str | Path, environ: Mapping[str, str], trusted: Trust = nothing_is_trusted) -> Project:
    """Return the project around `cwd`; `trusted` decides about each file.

    The project is the nearest folder with a `.git` or a `.terp` in it, else only `cwd`.
    """
    folders = folders_of(cwd, environ)
    root = folders.root
    reader = _Reader(root, trusted)
    settings = reader.read(root / name for name in SETTINGS)
    instructions = reader.read(map(named_instructions, folders.within))
    tools = reader.read((root / name for name in TOOLS), LARGEST_TOOLS_BYTES)
    skills = reader.read(_below(root, SKILLS, f"*/{SKILL_FILE}"), LARGEST_SKILL_BYTES)
    commands = reader.read(_below(root, COMMANDS, "**/*.md"))
    found = suggested_python(str(folders.cwd), environ)
    python = reader.trusts_python(found) if found else None
    ignored, problems = tuple(reader.ignored), tuple(reader.problems)
    return Project(
        folders.cwd, root, settings, instructions, tools, skills, commands, python, ignored, problems
    )


def _below(root: Path, folders: Iterable[str], pattern: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((root / folder).glob(pattern))[:MOST_FILES]


class _Reader:
    """Reads files of a project, and notes why one is left out."""

    def __init__(self, root: Path, trusted: Trust) -> None:
        self.ignored: list[Path] = []
        self.problems: list[str] = []
        self._root = root
        self._trusted = trusted

    def read(self, paths: Iterable[Path], largest: int = LARGEST_BYTES) -> tuple[ProjectFile, ...]:
        """Return the files that exist and are trusted."""
        return tuple(file for path in paths for file in self._file(path, largest))

    def trusts_python(self, python: ProjectPython) -> bool:
        """Return True if an environment is trusted, by its `pyvenv.cfg`."""
        config = Path(python.path).parent.parent / "pyvenv.cfg"
        try:
            content = read_bounded(config, LARGEST_BYTES) if config.exists() else b""
        except Refused as refused:
            self.problems.append(f"{python.name}: its pyvenv.cfg {refused}, and is left out.")
            return False
        trusted = self._trusted(config, content)
        if not trusted:
            self.ignored.append(config.parent)
        return trusted

    def _file(self, path: Path, largest: int) -> Iterator[ProjectFile]:
        name = path.relative_to(self._root)
        if not os.path.lexists(path):
            return
        try:
            if not path.resolve().is_relative_to(self._root.resolve()):
                raise Refused("leads out of this project")
            content = read_bounded(path, largest)
        except (Refused, OSError, RuntimeError) as refused:
            # What cannot be resolved is a circle of links.
            why = refused if isinstance(refused, Refused) else "cannot be read"
            self.problems.append(f"{name} {why}, and is left out.")
            return
        if self._trusted(path, content):
            yield ProjectFile(path, content)
        else:
            self.ignored.append(path)


def named_instructions(folder: Path) -> Path:
    """Return the path of a folder's file of instructions, which may not exist."""
    found = (folder / name for name in INSTRUCTIONS if os.path.lexists(folder / name))
    return next(found, folder / INSTRUCTIONS[0])


@dataclass(frozen=True, slots=True)
class Instructions:
    """Instructions for the model, and the phrase that names their author to it."""

    whose: str
    text: str


def written_instructions(places: Places, project: Project | None = None) -> tuple[Instructions, ...]:
    """Return the instructions of all files: the user's first, then the project's from its root on.

    Raises:
        SettingsError: the user's file exists and cannot be read.
    """
    found = [*_own(places), *(_of_project(project) if project else ())]
    return tuple(one for one in found if one.text)


def _own(places: Places) -> Iterator[Instructions]:
    try:
        content = places.instructions.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise SettingsError([f"{places.instructions}: cannot be read: {error.strerror}."]) from error
    yield Instructions("the user, for all of their work", _text(content))


def _of_project(project: Project) -> Iterator[Instructions]:
    for file in project.instructions:
        folder = file.path.parent.relative_to(project.root)
        where = f"in its folder {folder}, from {file.path.name}" if folder.name else f"from {file.path.name}"
        yield Instructions(f"the project at {project.root}, {where}", _text(file.content))


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig", errors="replace").strip()
