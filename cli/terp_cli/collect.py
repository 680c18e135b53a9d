"""`--out DIR`: the files and images of a run, gathered in one place."""

from collections.abc import Sequence
from pathlib import Path

from terp.attachments import copy_unused


def collect(files: Sequence[str], folder: Path) -> list[Path]:
    """Copy `files` into `folder`, never over an existing file; where each of them is now.

    What is in `folder` already stays, and what is gone again is left out.

    Raises:
        OSError: the folder cannot be made, or a file not be copied.
    """
    folder.mkdir(parents=True, exist_ok=True)
    home = folder.resolve()
    sources = [path for file in files if (path := Path(file)).is_file()]
    return [path if path.resolve().is_relative_to(home) else copy_unused(path, folder) for path in sources]
