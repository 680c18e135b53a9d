"""A tool file for sessions in an editor. It runs in the kernel."""

from importlib import import_module
from pathlib import Path

from terp.tools import register_tool


@register_tool
def read_file(path: str, line: int = 1, limit: int = 2000) -> str:
    """Read a text file as the user's editor has it, with unsaved changes: `limit` lines from `line` on."""
    files = import_module("terp_home.shipped").text_files[0]
    text: str | None = files.read(str(Path(path).expanduser()))
    if text is None:
        raise FileNotFoundError(f"There is no file {path}.")
    return "".join(text.splitlines(keepends=True)[line - 1 : line - 1 + limit])
