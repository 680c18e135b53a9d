"""A project: the folders around the directory of a session, and the files in it that speak to terp.

Nothing in them is a setting or an instruction before the person trusts it: `Trust` is asked about the very
bytes that would be used.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

Trust = Callable[[Path, bytes], bool]
"""Whether the person trusts a file of a project that holds these bytes."""

LARGEST_BYTES = 64 * 1024
SETTINGS = (".terp/local.yaml", ".terp/profile.yaml")
"""Files of settings, the stronger one first, which is not shared with others."""
INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
"""What a file of instructions is called; in a folder with both, the first counts."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file of a project that is trusted, and what it held when that was asked."""

    path: Path
    content: bytes


@dataclass(frozen=True, slots=True)
class Project:
    """What the project around a working directory says.

    `settings` are the files of settings that are trusted, the strongest first; `instructions` those of
    instructions, the nearest to the working directory last. `ignored` are the files that are not trusted,
    and `problems` tells in lines which of them are of no use to anybody.
    """

    cwd: Path
    root: Path
    settings: tuple[ProjectFile, ...] = ()
    instructions: tuple[ProjectFile, ...] = ()
    ignored: tuple[Path, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """What the person must know about files that are left out, in lines."""
        if not self.ignored:
            return self.problems
        names = ", ".join(str(path.relative_to(self.root)) for path in self.ignored)
        return (f"this project is not trusted, so nothing is taken from it: {names}.", *self.problems)


def nothing_is_trusted(_path: Path, _content: bytes) -> bool:
    """The `Trust` of a person who was not asked."""
    return False


def bare_project(cwd: str | Path) -> Project:
    """The project around `cwd` as if there were no file in it."""
    here = Path(cwd or Path.cwd()).absolute()
    return Project(here, here)


def read_project(cwd: str | Path, environ: Mapping[str, str], trusted: Trust = nothing_is_trusted) -> Project:
    """The project around `cwd`, each of whose files is asked about that is there.

    It is what lies below the nearest folder with a `.git` or a `.terp` in it, or else `cwd` alone.
    """
    here = Path(cwd or Path.cwd()).absolute()
    root = next(filter(_is_root, upwards(here, environ)), here)
    within = [folder for folder in (here, *here.parents) if folder == root or root in folder.parents]
    reader = _Reader(root, trusted)
    settings = reader.read(root / name for name in SETTINGS)
    instructions = reader.read(_named(folder) for folder in reversed(within))
    return Project(here, root, settings, instructions, tuple(reader.ignored), tuple(reader.problems))


def upwards(cwd: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """The folders of a project from within: up to its repository's, and never the home directory."""
    home = Path(environ.get("HOME") or "~").expanduser()
    for folder in (cwd, *cwd.parents):
        if folder in (home, Path(folder.anchor)):
            return
        yield folder
        if (folder / ".git").exists():
            return


class _Reader:
    """Reads files of a project, and notes why one is left out."""

    def __init__(self, root: Path, trusted: Trust) -> None:
        self.ignored: list[Path] = []
        self.problems: list[str] = []
        self._root = root
        self._trusted = trusted

    def read(self, paths: Iterable[Path]) -> tuple[ProjectFile, ...]:
        """Those of the files that are there and trusted."""
        # Nobody waits for a pipe, or reads a device to its end.
        return tuple(file for path in paths if path.is_file() for file in self._file(path))

    def _file(self, path: Path) -> Iterator[ProjectFile]:
        name = path.relative_to(self._root)
        try:
            if not path.resolve().is_relative_to(self._root.resolve()):
                self.problems.append(f"{name} leads out of this project, and is left out.")
                return
            with path.open("rb") as file:
                content = file.read(LARGEST_BYTES + 1)
        except OSError as error:
            self.problems.append(f"{name} cannot be read, and is left out: {error.strerror}.")
            return
        if len(content) > LARGEST_BYTES:
            self.problems.append(f"{name} is larger than 64 KB, and is left out.")
        elif self._trusted(path, content):
            yield ProjectFile(path, content)
        else:
            self.ignored.append(path)


def _is_root(folder: Path) -> bool:
    return (folder / ".git").exists() or (folder / ".terp").is_dir()


def _named(folder: Path) -> Path:
    """The file of instructions of a folder, which need not be there."""
    found = (folder / name for name in INSTRUCTIONS if (folder / name).is_file())
    return next(found, folder / INSTRUCTIONS[0])
