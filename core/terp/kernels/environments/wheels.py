"""Modules in wheels of the person's own: in the folders that pip and uv are told to look into."""

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlparse

_VARIABLES = ("PIP_FIND_LINKS", "UV_FIND_LINKS")


def wheel_modules(environ: Mapping[str, str]) -> dict[str, str]:
    """The top-level modules in those wheels, and the distributions that they are of."""
    found: dict[str, str] = {}
    for folder in _folders(environ):
        for wheel in sorted(folder.glob("*.whl")):
            distribution = wheel.name.partition("-")[0].replace("_", "-")
            found |= dict.fromkeys(_top_level(wheel), distribution)
    return found


def _folders(environ: Mapping[str, str]) -> Iterator[Path]:
    for variable in _VARIABLES:
        # uv separates by commas, pip by spaces; both take URLs, of which only files are looked into.
        for word in environ.get(variable, "").replace(",", " ").split():
            path = Path(unquote(urlparse(word).path)) if word.startswith("file:") else Path(word)
            if path.is_dir():
                yield path


def _top_level(wheel: Path) -> Iterator[str]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return
    for name in names:
        top, _, rest = name.partition("/")
        if rest and not top.endswith((".dist-info", ".data")):
            yield top
        elif not rest and top.endswith(".py"):
            yield top.removesuffix(".py")
