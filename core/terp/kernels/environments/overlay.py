"""Overlays: folders with ipykernel for an environment that has none, without changing it."""

import hashlib
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from terp.settings.places import make_private

KERNEL = "ipykernel"


def linked_overlay(folder: Path) -> str:
    """Return a folder below `folder` with links to terp's own ipykernel and its dependencies.

    For Pythons of the same version as terp's. It is made once for each state of terp's environment.

    Raises:
        OSError: the folder cannot be written.
    """
    parts = _closure(KERNEL)
    state = "\n".join(sorted(f"{part.name}=={part.version} {part.locate_file('')}" for part in parts))
    name = f"py{sys.version_info[0]}.{sys.version_info[1]}-{hashlib.sha256(state.encode()).hexdigest()[:12]}"
    overlay = folder / name
    if not overlay.is_dir():
        make_private(folder)
        beside = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=folder))
        for part in parts:
            _link(part, beside)
        try:
            beside.rename(overlay)
        except OSError:
            # Another process was faster.
            shutil.rmtree(beside)
            if not overlay.is_dir():
                raise
    return str(overlay)


def _closure(name: str) -> list[metadata.Distribution]:
    found: dict[str, metadata.Distribution] = {}
    open_names = [name]
    while open_names:
        name = open_names.pop().lower().replace("_", "-")
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        open_names += [wanted.name for wanted in _requirements(found[name])]
    return list(found.values())


def _requirements(part: metadata.Distribution) -> list[Requirement]:
    wanted = []
    for text in part.requires or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            wanted.append(requirement)
    return wanted


def _link(part: metadata.Distribution, overlay: Path) -> None:
    """Link a distribution's top-level files and packages into the overlay."""
    tops = {file.parts[0] for file in part.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        source = Path(str(part.locate_file(top)))
        if source.exists() and not (overlay / top).exists():
            (overlay / top).symlink_to(source)
