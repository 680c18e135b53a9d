"""`--out DIR`: the files and images of a run, gathered in one place."""

from collections.abc import Sequence
from pathlib import Path

from terp.attachments import copy_unused
from terp.errors import TerpError


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
        return [p if p.resolve().is_relative_to(folder) else copy_unused(p, folder) for p in sources]
    except OSError as error:
        raise TerpError(f"The files of the run cannot be collected in {folder}: {error.strerror}.") from error
