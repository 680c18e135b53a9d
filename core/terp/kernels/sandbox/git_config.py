"""Paths that git runs or follows: those of repositories, and those that their configuration names.

Read without git, which would start some of these programs.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from terp.kernels.sandbox.private_places import MOST_FOLDERS, OBEYED, folders_in, repositories_in
from terp.text.files import content_of

_LARGEST_BYTES = 1_000_000
_MOST_FILES = 100
_SECTION = re.compile(r'\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][\w-]*)\s*(?:=\s*(.*))?")
_CONTINUED = re.compile(r"\\\r?\n")
# Parts of a value as it is written: an escape, the text in quotes, a comment, any other character.
_PART = re.compile(r'\\(.)|"((?:[^"\\]|\\.)*)"|([#;].*)|(.)')
_BETWEEN_WORDS = re.compile(r"[\s'\"!;|&()=]+")
_INCLUDES = re.compile(r"include\.path|includeif\..*\.path")
# Of these a folder counts, and what does not exist yet; other values count if they name a file.
_PATHS = frozenset({"core.hookspath", "core.attributesfile", "init.templatedir"})
_HOOKS = """
    applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change
    post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit
    pre-push pre-rebase pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction
    sendemail-validate update
"""


class _Entry(NamedTuple):
    """A setting in a file: `section.name.key` with section and key in lower case."""

    file: Path
    key: str
    value: str


def obeyed_by_git(cwd: Path, home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Return paths that git runs or follows in repositories around and below `cwd`; they may not exist.

    Also those that the user's own configuration names, but not its files themselves.
    """
    repositories = repositories_in(cwd)
    own = list(_entries(_of_the_user(home, environ), home))
    named = dict.fromkeys(git / name for git in repositories for name in OBEYED)
    for git in dict.fromkeys((*repositories, *_git_folders(cwd))):
        settings = [*own, *_entries(_of_repository(git), home)]
        for work_tree in _work_trees(git, settings):
            named |= dict.fromkeys(_paths(settings, work_tree, cwd, home))
    return list(named)


def _of_the_user(home: Path, environ: Mapping[str, str]) -> list[Path]:
    above = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    own = [Path(named)] if (named := environ.get("GIT_CONFIG_GLOBAL")) else []
    return [Path("/etc/gitconfig"), above / "git" / "config", home / ".gitconfig", *own]


def _of_repository(git: Path) -> list[Path]:
    """Return the configuration files of a git folder, of which several work trees may have the first."""
    common = git / (_line(git / "commondir") or ".")
    return [common / "config", git / "config.worktree"]


def _git_folders(cwd: Path) -> Iterator[Path]:
    """Yield the git folder of the work tree around `cwd`, and of those near its top.

    In a linked work tree and in a submodule, `.git` is a file with the path of the folder.
    """
    around = next((above for above in (cwd, *cwd.parents) if (above / ".git").exists()), cwd)
    for folder in (around, *islice(folders_in(cwd), MOST_FOLDERS)):
        git = folder / ".git"
        if git.is_dir():
            yield git
        elif (line := _line(git)).startswith("gitdir:"):
            yield folder / line.removeprefix("gitdir:").strip()


def _work_trees(git: Path, settings: Iterable[_Entry]) -> Iterator[Path]:
    """Yield the folders that relative paths in a repository's configuration are below."""
    if linked := _line(git / "gitdir"):
        yield Path(linked).parent
        return
    yield from (git / value for _, key, value in settings if key == "core.worktree")
    yield git.parent


def _paths(settings: Iterable[_Entry], work_tree: Path, cwd: Path, home: Path) -> Iterator[Path]:
    for file, key, value in settings:
        if not value:
            continue
        if _INCLUDES.fullmatch(key):
            yield file.parent / _expanded(value, home)
        elif key in _PATHS:
            path = work_tree / _expanded(value, home)
            # A folder that holds the working directory cannot be protected as a whole.
            yield from map(path.joinpath, _HOOKS.split()) if cwd.is_relative_to(path) else (path,)
        else:
            for word in (value, *filter(None, _BETWEEN_WORDS.split(value))):
                with suppress(OSError):
                    if (path := work_tree / _expanded(word, home)).is_file():
                        yield path


def _entries(files: Iterable[Path], home: Path) -> Iterator[_Entry]:
    """Yield the settings in configuration files and in those that they include, whatever the condition."""
    waiting, seen = list(files), set[Path]()
    while waiting and len(seen) < _MOST_FILES:
        file = waiting.pop(0)
        if file in seen:
            continue
        seen.add(file)
        for entry in _read(file):
            yield entry
            if _INCLUDES.fullmatch(entry.key):
                waiting.append(file.parent / _expanded(entry.value, home))


def _read(file: Path) -> Iterator[_Entry]:
    section = ""
    for line in _CONTINUED.sub("", _text(file)).splitlines():
        rest = line.strip()
        if found := _SECTION.match(rest):
            name = f".{found[2]}" if found[2] is not None else ""
            section, rest = f"{found[1].lower()}{name}", rest[found.end() :].strip()
        if found := _KEY.match(rest):
            yield _Entry(file, f"{section}.{found[1].lower()}", _value(found[2] or ""))


def _value(text: str) -> str:
    """Return a value without quotes, escapes and comments."""
    parts = []
    for found in _PART.finditer(text):
        escaped, quoted, comment, other = found.groups()
        if comment is not None:
            break
        parts.append(re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else escaped or other or "")
    return "".join(parts).strip()


def _expanded(value: str, home: Path) -> str:
    return str(home / value[2:]) if value.startswith("~/") else value


def _line(file: Path) -> str:
    return _text(file).strip()


def _text(file: Path) -> str:
    try:
        # The user's own files are often links; code has not run yet.
        return content_of(Path(os.path.realpath(file)), _LARGEST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
