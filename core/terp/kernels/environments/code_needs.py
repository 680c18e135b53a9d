"""Packages that code needs: by its imports, and by commands such as `!pip install NAME` in it."""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from terp.analysis.effects.cells import commands_in, python_in
from terp.analysis.effects.shell_words import NotRead, Script
from terp.kernels.environments.distributions import imported

_PIP = re.compile(r"(?:\S*/)?(?:pip3?|uv)")
_PYTHON = re.compile(r"(?:\S*/)?python[\d.]*|\{sys\.executable\}|\$\{?\w+\}?")
_UPGRADES = re.compile(r"--upgrade|-[a-zA-Z]*U[a-zA-Z]*")
_REQUIREMENT = re.compile(r"\w[\w.-]*(?:\[[\w,.-]+\])?\s*(?:[<>=!~]=?\s*[\w.*]+[,\s]*)*")
_MAY_FAIL = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def imported_by(code: str) -> tuple[str, ...]:
    """Return the modules that Python code needs, without the standard library and optional imports."""
    tree = python_in(code)
    if not tree:
        return ()
    spared = {name for block in _forgiving(tree) for statement in block.body for name in imported(statement)}
    found = dict.fromkeys(imported(tree))
    return tuple(name for name in found if name not in sys.stdlib_module_names and name not in spared)


def _forgiving(tree: ast.AST) -> Iterator[ast.Try]:
    """Yield the `try` statements that catch a failed import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(_catches(handler.type) for handler in node.handlers):
            yield node


def _catches(caught: ast.expr | None) -> bool:
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(part is None or (isinstance(part, ast.Name) and part.id in _MAY_FAIL) for part in parts)


def named_by_pip(code: str, language: str, cwd: str) -> dict[str, bool]:
    """Return the requirements that pip would install by name or from a requirements file.

    The value of each is True if pip would upgrade it. URLs, folders and other options are left out: the user
    can consent only to a name.
    """
    if "install" not in code:
        return {}
    scripts = [code] if language == "shell" else commands_in(code)
    return dict(named for script in scripts for named in _of_script(script, Path(cwd)))


def _of_script(text: str, cwd: Path) -> Iterator[tuple[str, bool]]:
    script = Script(text)
    # Commands before the unreadable part count.
    with suppress(NotRead):
        script.read()
    for command in script.commands:
        words = [word.text for word in command.words]
        if words[1:3] == ["-m", "pip"] and _PYTHON.fullmatch(words[0]):
            words = words[2:]
        if words[:1] and _PIP.fullmatch(words[0]) and "install" in words[1:3]:
            upgrades = any(map(_UPGRADES.fullmatch, words))
            yield from ((one, upgrades) for one in _requirements(words[words.index("install") + 1 :], cwd))


def _requirements(words: Sequence[str], cwd: Path) -> Iterator[str]:
    before = ""
    for word in words:
        if before in ("-r", "--requirement"):
            yield from _of_file(cwd / word)
        elif before in ("-c", "-i", "-f", "-t", "-e", "--constraint", "--index-url", "--target", "--python"):
            pass
        elif _REQUIREMENT.fullmatch(word):
            yield word
        before = word


def _of_file(path: Path) -> Iterator[str]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    yield from (
        line for line in (line.split("#")[0].strip() for line in lines) if _REQUIREMENT.fullmatch(line)
    )
