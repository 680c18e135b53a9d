"""The files of a project, and a copy of them in which a check can do what it likes."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from terp.errors import TerpError

# Made anew by whoever wants them; a compiled module could stand in for a source that says something else.
_LEFT_OUT = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"})
# Large, and nothing that a check is about: they are looked at where they are.
_LINKED = frozenset({".git", ".hg", ".svn", ".terp", ".venv", "node_modules", ".tox", ".nox"})
_LARGE = 8 << 20
MOST_FILES, MOST_BYTES = 20_000, 500 << 20

Entry = tuple[str, Literal["file", "link", "folder"]]


class TooLarge(TerpError):
    """A project has more in it than is copied for a check."""

    def __init__(self, root: Path) -> None:
        super().__init__(
            f"{root} is too large to be copied for a check: it has more than {MOST_FILES:,} files, "
            f"or more than {MOST_BYTES >> 20} MB in files below {_LARGE >> 20} MB.",
            "Start terp in the folder that the check is about, or make a repository of it.",
        )


class NotCopied(TerpError):
    """There is no room for a copy of a project."""

    def __init__(self, root: Path, error: OSError) -> None:
        super().__init__(
            f"{root} cannot be copied for a check: {error.strerror}.", "Make room where TMPDIR says."
        )


def entries(root: Path) -> Iterator[Entry]:
    """What is below `root` as a check sees it, by relative path, folders before what is in them.

    A "link" stands for something that stays where it is.

    Raises:
        TooLarge: there is too much.
    """
    size = 0
    for files, entry in enumerate(_below(root, ""), start=1):
        with suppress(OSError):
            size += (root / entry[0]).lstat().st_size if entry[1] == "file" else 0
        if files > MOST_FILES or size > MOST_BYTES:
            raise TooLarge(root)
        yield entry


def copy(root: Path, to: Path) -> None:
    """Copy a project to the new folder `to`, but for what disappears meanwhile or may not be read.

    Raises:
        TooLarge: there is too much of it.
        NotCopied: there is no room for it.
    """
    to.mkdir()
    for name, kind in entries(root):
        source, target = root / name, to / name
        try:
            if kind == "folder":
                target.mkdir()
            elif kind == "file":
                shutil.copy2(source, target, follow_symlinks=False)
            else:
                target.symlink_to(led(source, root))
        except (FileNotFoundError, PermissionError):
            continue
        except OSError as error:
            raise NotCopied(root, error) from error


def _below(root: Path, folder: str) -> Iterator[Entry]:
    try:
        with os.scandir(root / folder) as found:
            inside = sorted(found, key=lambda one: one.name)
    except OSError:
        return
    for one in inside:
        name = f"{folder}/{one.name}" if folder else one.name
        if one.name in _LEFT_OUT:
            continue
        if one.is_dir(follow_symlinks=False):
            linked = one.name in _LINKED or os.path.lexists(os.path.join(one.path, "pyvenv.cfg"))  # noqa: PTH118
            yield name, "link" if linked else "folder"
            if not linked:
                yield from _below(root, name)
        elif one.is_symlink():
            yield name, "link"
        elif one.is_file(follow_symlinks=False):
            yield name, "link" if one.stat(follow_symlinks=False).st_size > _LARGE else "file"


def led(source: Path, root: Path) -> str:
    """Where a link in the copy leads: as in the project, if that is within it."""
    if not source.is_symlink():
        return str(source)
    leads = str(source.readlink())
    end = os.path.normpath(source.parent / leads)
    inside = not os.path.isabs(leads) and Path(end).is_relative_to(root)  # noqa: PTH117
    return leads if inside else end
