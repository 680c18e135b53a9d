"""A `pip` for the code: it installs where the code imports from, also where there is no pip."""

import hashlib
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from terp.places import make_private
from terp.pythons.interpreter import Interpreter, has_module

NAMES = ("pip", "pip3")


def pip_shims(interpreter: Interpreter, environ: Mapping[str, str], folder: Path) -> str:
    """A folder below `folder` with programs called pip for this Python; "" when there is no installer.

    Raises:
        OSError: the folder cannot be written.
    """
    command = _command(interpreter, environ)
    if not command:
        return ""
    lines = ["#!/bin/sh"]
    if interpreter.packages:
        lines.append(f"export PIP_TARGET={shlex.quote(interpreter.packages)}")
    lines.append(f'exec {shlex.join(command)} "$@"')
    script = "\n".join(lines) + "\n"
    place = make_private(folder / hashlib.sha256(script.encode()).hexdigest()[:12])
    for name in NAMES:
        if not (place / name).exists():
            (place / name).write_text(script, encoding="utf-8")
            (place / name).chmod(0o700)
    return str(place)


def _command(interpreter: Interpreter, environ: Mapping[str, str]) -> list[str]:
    if has_module(interpreter.path, "pip"):
        return [interpreter.path, "-m", "pip"]
    if has_module(sys.executable, "pip"):
        return [sys.executable, "-m", "pip", "--python", interpreter.path]
    uv = shutil.which("uv", path=environ.get("PATH", ""))
    return [uv, "pip"] if uv else []
