"""Paths as people type them, and names of files that are not taken yet."""

import os
from itertools import count
from pathlib import Path

LONGEST_NAME = 255
"""The bytes that a file system takes for one name."""


def typed_path(path: str) -> Path:
    """Return a typed path with `~` expanded to the home directory, and `~name` to that of a known user."""
    # Of a name that nobody has, `Path.expanduser` makes an error; it may be that of a file.
    return Path(os.path.expanduser(path))  # noqa: PTH111


def fitting(stem: str, suffix: str) -> str:
    """Return `stem` and `suffix` as one file name; `stem` is cut if a file system could not take it all."""
    while stem and len(os.fsencode(stem + suffix)) > LONGEST_NAME:
        stem = stem[:-1]
    return stem + suffix


def numbered(path: Path, number: int) -> Path:
    """Return `name-2.ext` for `name.ext` and 2."""
    suffix = "".join(path.suffixes[-2:]) if path.suffixes[-2:-1] == [".tar"] else path.suffix
    return path.with_name(fitting(path.name.removesuffix(suffix), f"-{number}{suffix}"))


def unused(path: Path) -> Path:
    """Return `path`, or the first of `name-2.ext`, `name-3.ext` … that does not exist."""
    if not os.path.lexists(path):
        return path
    candidates = (numbered(path, number) for number in count(2))
    return next(one for one in candidates if not os.path.lexists(one))
