"""The repositories of git near a folder: each has files that git obeys, and runs programs for."""

import os
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

OBEYED = ("hooks", "config", "commondir")
"""What git obeys in the folder of a repository: `commondir` names another one, with other hooks."""

# A home directory holds a hundred thousand folders; those that people work in are near.
_MOST_FOLDERS, _DEEPEST, _MOST_ENTRIES = 150, 3, 5_000
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages"})


def repositories_in(folder: Path) -> list[Path]:
    """The folders that hold repositories, of `folder` itself, of its submodules and not far below it."""
    found: list[Path] = []
    for inside in islice(_folders(folder), _MOST_FOLDERS):
        if (git := inside / ".git").is_dir() and not git.is_symlink():
            found += [git, *_submodules(git)]
    return found


def _submodules(git: Path) -> Iterator[Path]:
    """The repositories that a repository keeps for others; their names may have slashes."""
    for inside in islice(_folders(git / "modules"), _MOST_FOLDERS):
        if (inside / "HEAD").is_file():
            yield inside


def _folders(top: Path) -> Iterator[Path]:
    """The folder, and those below it, the nearest first; no links and nothing hidden."""
    waiting = deque([(top, 0)])
    while waiting:
        folder, depth = waiting.popleft()
        yield folder
        if depth < _DEEPEST:
            waiting.extend((below, depth + 1) for below in _below(folder))


def _below(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [
                Path(entry.path)
                for entry in islice(entries, _MOST_ENTRIES)
                if entry.is_dir(follow_symlinks=False)
                and entry.name not in _PASSED_OVER
                and not entry.name.startswith(".")
            ]
    except OSError:
        return []
