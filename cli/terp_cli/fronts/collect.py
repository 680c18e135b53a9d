"""`--out DIR`: the files and images of a run, gathered in one place."""

import filecmp
import shutil
from collections.abc import Sequence
from pathlib import Path

from terp.errors import TerpError
from terp.text.paths import unused


def collect(files: Sequence[str], folder: Path) -> list[Path]:
    """Copy `files` into `folder`, never over an existing file; where each of them is now.

    What is in `folder` already stays, and what is gone again is left out; so is a link in the place of a
    file, which may lead to what code cannot see. `folder` is the real path that it had before any code ran.

    Raises:
        TerpError: a file cannot be copied, or the folder has become a link.
    """
    if folder.resolve() != folder:
        raise TerpError(f"{folder} has become a link to elsewhere, so no files are collected there.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sources = [path for file in files if (path := Path(file)).is_file() and not path.is_symlink()]
        return [p if p.resolve().is_relative_to(folder) else _copied(p, folder) for p in sources]
    except OSError as error:
        raise TerpError(f"The files of the run cannot be collected in {folder}: {error.strerror}.") from error


def _copied(source: Path, folder: Path) -> Path:
    """Copy `source` into `folder` under its own name, or a numbered one; where it is now.

    Nothing is copied when the same content is there under that name.
    """
    target = folder / source.name
    if target.is_file() and filecmp.cmp(source, target, shallow=False):
        return target
    while True:
        target = unused(target)
        try:
            # "x": another program may have taken the name just now.
            with source.open("rb") as read, target.open("xb") as write:
                shutil.copyfileobj(read, write)
        except FileExistsError:
            continue
        return target
