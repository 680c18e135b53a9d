"""A wheel that nothing else has, made by hand."""

import os
import sys
import zipfile
from pathlib import Path


def write_wheel(folder: Path, distribution: str, module: str, code: str, version: str = "1.0") -> Path:
    """A wheel of `distribution` with one module."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{distribution}-{version}.dist-info"
    files = {
        f"{module}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    path = folder / f"{distribution}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    return path


def index_of(folder: Path) -> dict[str, str]:
    """Variables by which uv and pip find packages in `folder` and nowhere else."""
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        # uv knows no UV_NO_INDEX.
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": str(folder),
    }


def path_with(uv: bool) -> str:
    """The PATH with uv on it, or without."""
    own = str(Path(sys.executable).parent)
    folders = os.environ["PATH"].split(":")
    return ":".join([own, *folders] if uv else [one for one in folders if not Path(one, "uv").exists()])
