"""The folders of the project around a working directory, found only by names; git is never run."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from terp.text.dataclasses import dataclass

OF_TERP = ".terp"
"""The folder of a project that is for terp."""


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of a project: its root, and the working directory in it."""

    cwd: Path
    root: Path

    @property
    def within(self) -> tuple[Path, ...]:
        """The folders between them, the root first."""
        above = (self.cwd, *self.cwd.parents)
        return tuple(folder for folder in reversed(above) if folder.is_relative_to(self.root))


def folders_of(cwd: str | Path, environ: Mapping[str, str]) -> Folders:
    """Return the folders of the project around `cwd`."""
    here = Path(cwd or Path.cwd()).absolute()
    if ".." in here.parts:
        # Its parents would be folders that it is not in.
        here = here.resolve()
    return Folders(here, next(filter(_is_root, upwards(here, environ)), here))


def upwards(cwd: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield a project's folders from the innermost up to the repository's root, without the home folder."""
    home = Path(environ.get("HOME") or "~").expanduser()
    for folder in (cwd, *cwd.parents):
        if folder in (home, Path(folder.anchor)):
            return
        yield folder
        if (folder / ".git").exists():
            return


def _is_root(folder: Path) -> bool:
    return (folder / ".git").exists() or (folder / OF_TERP).is_dir()
