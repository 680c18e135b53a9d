"""Folders of a kernel's own for what programs write besides their results."""

import os
from collections.abc import Mapping
from pathlib import Path

from terp.text.own_files import content_of

_LARGEST_BYTES = 10_000_000
_MINE = {
    "TMPDIR": "tmp",
    "IPYTHONDIR": "ipython",
    "MPLCONFIGDIR": "matplotlib",
    "DENO_DIR": "deno",
    "GOCACHE": "go",
}


def with_own_places(environment: Mapping[str, str], directory: Path, temporary: str = "") -> dict[str, str]:
    """The environment with folders below `directory` in place of those in the home directory.

    They are made here, but for a `temporary` one that is there already. What matplotlib has found out about
    fonts is copied: it takes seconds to find out.
    """
    folder = Path(os.path.realpath(directory))
    for name in _MINE.values():
        (folder / name).mkdir(mode=0o700, exist_ok=True)
    _copy_fonts(environment, folder / _MINE["MPLCONFIGDIR"])
    own = {name: str(folder / below) for name, below in _MINE.items()}
    return {**environment, **own, "TMPDIR": temporary or own["TMPDIR"]}


def _copy_fonts(environment: Mapping[str, str], folder: Path) -> None:
    home = Path(environment.get("HOME", "/nowhere"))
    cache = Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "matplotlib"
    own = environment.get("MPLCONFIGDIR", "")
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "matplotlib"
    for source in (Path(own) if own else cache, Path(own) if own else config):
        for name in ("fontlist-*.json", "matplotlibrc"):
            for file in source.glob(name):
                try:
                    # In a home directory that code works in, it may be a link to what is hidden.
                    (folder / file.name).write_bytes(content_of(file, _LARGEST_BYTES))
                except OSError:
                    continue  # it is found out again
