"""Files that travel between terp and a kernel of another machine, in pieces of base64."""

from __future__ import annotations

import base64
import hashlib
import os
from typing import Any

from . import changed


def read(path: str, start: str, length: str) -> dict[str, Any]:
    """Return a chunk of a file in base64, or the error."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            file.seek(int(start))
            return {"piece": base64.b64encode(file.read(int(length))).decode()}
    except (OSError, ValueError) as error:
        return {"error": str(error)}


def write(what: str, name: str, given: str) -> dict[str, Any]:
    """Write a file into the working directory: "begin" it with its SHA-256, then "add" chunks.

    "begin" returns the new `path`, never that of another file, and as `there` if the same file exists.
    """
    try:
        if what == "begin":
            return begin(os.path.basename(name), given)  # noqa: PTH119
        with open(name, "ab") as file:  # noqa: PTH123
            file.write(base64.b64decode(given))
        changed.given[name] = changed.state_of(name)[:3]
    except (OSError, ValueError) as error:
        return {"error": str(error)}
    return {"path": name}


def begin(name: str, digest: str) -> dict[str, Any]:
    """Create the file under its name or a numbered one."""
    stem, suffix = os.path.splitext(name)  # noqa: PTH122
    number = 1
    while True:
        path = os.path.abspath(name if number == 1 else f"{stem}-{number}{suffix}")  # noqa: PTH100
        if os.path.isfile(path) and digest_of(path) == digest:  # noqa: PTH113
            return {"path": path, "there": True}
        try:
            with open(path, "xb"):  # noqa: PTH123
                return {"path": path, "there": False}
        except FileExistsError:
            number += 1


def digest_of(path: str) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:  # noqa: PTH123
        for piece in iter(lambda: file.read(1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()
