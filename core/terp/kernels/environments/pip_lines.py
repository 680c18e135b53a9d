"""Packages that commands such as `!pip install NAME` in code would install."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from terp.analysis.effects.cells import commands_in
from terp.analysis.effects.shell_words import NotRead, Script

_PIP = re.compile(r"(?:\S*/)?(?:pip3?|uv)")
_PYTHON = re.compile(r"(?:\S*/)?python[\d.]*|\{sys\.executable\}|\$\{?\w+\}?")
_UPGRADES = re.compile(r"--upgrade|-[a-zA-Z]*U[a-zA-Z]*")
_REQUIREMENT = re.compile(r"\w[\w.-]*(?:\[[\w,.-]+\])?\s*(?:[<>=!~]=?\s*[\w.*]+[,\s]*)*")


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
