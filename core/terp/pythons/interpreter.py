"""A Python on this machine, and what its files tell without starting it."""

import sys
from dataclasses import dataclass
from pathlib import Path

_UNTELLING = (".venv", "venv", "env", "default")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that runs the kernel, and why it was chosen.

    `overlay` is a folder with ipykernel for an environment that has none: its packages come after the
    environment's own, and no process that the code starts sees them.
    """

    path: str
    why: str
    overlay: str = ""


def own_interpreter(why: str = "terp's own") -> Interpreter:
    """The Python that runs terp."""
    return Interpreter(sys.executable, why)


def environment_name(interpreter: Interpreter | None) -> str:
    """The environment as people call it: `.venv of shop`, `data`; "" for terp's own, or none yet."""
    if interpreter is None or interpreter.path == sys.executable:
        return ""
    prefix = Path(interpreter.path).parent.parent
    if prefix.name in ("", "usr", "local"):
        return interpreter.path
    return f"{prefix.name} of {prefix.parent.name}" if prefix.name in _UNTELLING else prefix.name


def has_module(python: str, name: str) -> bool:
    """Whether a Python can import the top-level module `name`, as far as its own folders tell.

    What its environment adds otherwise, such as a `.pth` file, is not seen.
    """
    prefix = Path(python).parent.parent
    folders = ("lib/python3*/site-packages", "lib/python3/dist-packages")
    return any(any(prefix.glob(f"{folder}/{name}{end}")) for folder in folders for end in ("", ".py"))


def version_of(python: str) -> str:
    """The version of a Python, as `3.12`; "" when its folders do not tell."""
    if python == sys.executable:
        return "{}.{}".format(*sys.version_info)
    prefix = Path(python).parent.parent
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    stated = dict(line.replace(" ", "").split("=", 1) for line in lines if "=" in line)
    # venv writes `version`, uv and virtualenv `version_info`.
    if full := stated.get("version") or stated.get("version_info"):
        return ".".join(full.split(".")[:2])
    found = {folder.name.removeprefix("python") for folder in prefix.glob("lib/python3.*")}
    return found.pop() if len(found) == 1 else ""
