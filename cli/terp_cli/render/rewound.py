"""Sentences about a rewind: the question about files, and what was restored and what was not."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from terp.text.wording import first_names

if TYPE_CHECKING:
    from terp.session.rewind.rewind import ChangedFile, Restored

_NAMED = 20


def question(cwd: str, files: "Sequence[ChangedFile]") -> str:
    """Return the question about files that can be restored; paths are relative to `cwd`."""
    parts = [
        (verb, [_near(cwd, one.path) for one in files if one.new == new])
        for verb, new in (("restore", False), ("delete", True))
    ]
    asked = " and ".join(f"{verb} {first_names(named, _NAMED)}" for verb, named in parts if named)
    return f"{asked[0].upper()}{asked[1:]}?"


def outcome(cwd: str, taken: "Restored", deleted: set[str]) -> list[str]:
    """Return lines about restored and lost variables and files; paths are relative to `cwd`."""
    parts = [
        ("As they were", taken.restored),
        ("Removed", taken.removed),
        ("Not restored, unchanged", [f"{name} ({why})" for name, why in taken.lost]),
        ("Files as they were", [_near(cwd, path) for path in taken.files if path not in deleted]),
        ("Files deleted", [_near(cwd, path) for path in taken.files if path in deleted]),
        (
            "Files as they are now",
            [_near(cwd, path) + (why and f" ({why})") for path, why in taken.files_lost],
        ),
    ]
    lines = [f"{title}: {first_names([*names], _NAMED)}." for title, names in parts if names]
    return [*lines, *(f"{one[:1].upper()}{one[1:]}." for one in taken.notes)]


def _near(cwd: str, path: str) -> str:
    """Return a path as seen from the working directory."""
    near = os.path.relpath(path, cwd)
    return path if near.startswith("..") else near
