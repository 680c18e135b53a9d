"""The command that adds packages to terp's own environment, by the program that installed terp."""

import shlex
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "acp": ("agent-client-protocol>=0.12",),
    "demo": ("matplotlib>=3.8", "pandas>=2.2"),
    "images": ("pillow>=10.3",),
    "javascript": ("deno>=2.9",),
    "keys": ("keyring>=25",),
    "mcp": ("mcp>=2.3",),
    "server": ("fastapi>=0.133", "python-multipart>=0.0.20", "uvicorn>=0.53", "websockets>=17.0"),
}
"""The packages of each optional part. terp is on no index, so `pip install terp[server]` would not work."""

_RECEIPT = "uv-receipt.toml"
_PIPX = "pipx_metadata.json"


def install_extra(name: str) -> str:
    """Return the command that installs the packages of one of `EXTRAS`."""
    return install_command(*EXTRAS[name])


def install_command(*packages: str, prefix: Path | None = None) -> str:
    """Return the shell command that adds packages to the environment at `prefix`, by default terp's own.

    `uv tool install --with …` and `pipx inject …` for environments that these programs made, since their
    upgrades remove packages that pip added; else pip, or uv if the environment has no pip.
    """
    place = prefix or Path(sys.prefix)
    if (receipt := place / _RECEIPT).is_file():
        return shlex.join(["uv", "tool", "install", *_uv_arguments(receipt, packages)])
    if (place / _PIPX).is_file():
        return shlex.join(["pipx", "inject", place.name, *packages])
    if find_spec("pip") is None:
        return shlex.join(["uv", "pip", "install", "--python", sys.executable, *packages])
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])


def _uv_arguments(receipt: Path, packages: tuple[str, ...]) -> Iterator[str]:
    """Yield the arguments: terp from its original source, the packages added before, and the new ones.

    uv replaces the whole environment: a package that is not named again is removed.
    """
    import tomllib  # noqa: PLC0415  (5 ms, for a missing package only)

    requirements = tomllib.loads(receipt.read_text(encoding="utf-8"))["tool"]["requirements"]
    for row in requirements:
        if row["name"] == "terp":
            if "editable" in row:
                yield "--editable"
            yield _source(row)
    for row in requirements:
        if row["name"] != "terp":
            yield from ("--with", _source(row))
    for package in packages:
        yield from ("--with", package)


def _source(row: Mapping[str, Any]) -> str:
    """Return a requirement of uv's receipt as a word of its command line."""
    places = (row[key] for key in ("directory", "editable", "path", "url", "git") if key in row)
    extras = f"[{','.join(row['extras'])}]" if row.get("extras") else ""
    return f"{next(places, row['name'])}{extras}{row.get('specifier', '')}"
