"""The files that a check is made of, as they were before the model could change them."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from terp.trust.bounded import Refused, digest_of, read_bounded
from terp.until.tree import entries, led

TESTS = (
    *("test_*.py", "*_test.py", "*.test.*", "*.spec.*", "*_test.go", "*_spec.rb"),
    *("tests/*", "test/*", "__tests__/*", "spec/*"),
)
"""Files with tests: those that there were are put back, new ones are welcome."""
STEERING = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg"),
    *("*.egg-info/entry_points.txt", "*.dist-info/entry_points.txt"),
    *("pyproject.toml", ".coveragerc", "noxfile.py", "sitecustomize.py", "usercustomize.py"),
    *("Makefile", "makefile", "GNUmakefile", "justfile", "package.json", "jest.config.*", "vitest.config.*"),
)
"""Files that say what a check does: those that there were are put back, new ones are left out."""

FREE = "!"
"""How a pattern of files begins that are no part of a check after all."""
_KEPT_FILE, _KEPT_ALL = 1 << 20, 64 << 20
_COMPARED = 500 << 20
_CD = re.compile(r"\bcd\s+([^\s'\"|&;<>()$`]+)")
_WORD = re.compile(r"[^\s'\"|&;<>()$`]+")


@dataclass(frozen=True, slots=True)
class Kept:
    """A file as it was; without `content` it is too large to be put back.

    Of a folder that is a link it is where that led.
    """

    digest: str
    content: bytes | None
    mode: int
    link: str = ""


class Originals:
    """The protected files of a project, by relative path, as they were when this was made.

    `patterns` are more of those that steer a check, and so is every file that its `command` names, or that
    has some of the `tests` which it found. A pattern with a / in it is about paths, another about names; one
    behind a ! names files that the model may change, whatever else says that they are protected.

    Raises:
        TooLarge: the project has too many files.
    """

    def __init__(
        self,
        root: Path,
        cwd: Path,
        patterns: Sequence[str] = (),
        command: str = "",
        tests: Sequence[str] = (),
    ) -> None:
        self._root = root
        self._free = tuple(pattern[1:] for pattern in patterns if pattern.startswith(FREE))
        self._patterns = (*STEERING, *(pattern for pattern in patterns if not pattern.startswith(FREE)))
        found = (Path(file) for file in tests)
        own = {str(file.relative_to(root)) for file in found if file.is_relative_to(root)}
        self._named = _named_in(command, root, cwd) | own
        self.files: Mapping[str, Kept] = dict(self._kept())

    def changed(self, where: Path) -> tuple[str, ...]:
        """The files that are not as they were, or that have come and steer the check; by relative path.

        `where` is the project or a copy of it.
        """
        there = {name for name, kind in entries(where) if kind != "folder"}
        # What lies below something that is now a link is not looked at, and may be anything.
        other = [
            name for name, kept in self.files.items() if name not in there or _differs(where, name, kept)
        ]
        return tuple(sorted({*other, *(name for name in there - self.files.keys() if self._steers(name))}))

    def put_back(self, copy: Path, changed: Sequence[str]) -> tuple[str, ...]:
        """Make the files of a copy as they were; those for which that cannot be done."""
        lost = []
        # A link last: what has come where it was goes with it.
        for name in sorted(changed, key=self._is_link):
            kept = self.files.get(name)
            _clear(copy, name)
            if kept is None:
                continue
            if kept.link:
                (copy / name).symlink_to(kept.link)
                continue
            if kept.content is None:
                lost.append(name)
                continue
            (copy / name).write_bytes(kept.content)
            (copy / name).chmod(kept.mode | 0o600)
        return tuple(lost)

    def _is_link(self, name: str) -> bool:
        return name in self.files and self.files[name].link != ""

    def is_protected(self, name: str) -> bool:
        """Whether a file, by relative path, is one of those that check."""
        return name in self.files

    def _kept(self) -> Iterator[tuple[str, Kept]]:
        room = _KEPT_ALL
        for name, kind in entries(self._root):
            path = self._root / name
            leads = kind == "link" and path.is_symlink() and path.is_dir()
            inside = f"{name}/*" if leads else name
            if kind == "folder" or not self._protects(name, inside):
                continue
            if leads:
                yield name, Kept("", None, 0, led(path, self._root))
                continue
            try:
                content, mode = read_bounded(path, min(_KEPT_FILE, room)), path.stat().st_mode & 0o777
            except (Refused, OSError):
                # Too large: that it was changed is all that can be told. Or none that anybody could read.
                if digest := _digest(path):
                    yield name, Kept(digest, None, 0o600)
                continue
            room -= len(content)
            yield name, Kept(hashlib.sha256(content).hexdigest(), content, mode)

    def _protects(self, name: str, inside: str) -> bool:
        if _matches(name, self._free):
            return False
        return name in self._named or self._steers(inside) or _matches(inside, TESTS)

    def _steers(self, name: str) -> bool:
        return not _matches(name, self._free) and (name in self._named or _matches(name, self._patterns))


def folders_entered(command: str) -> list[str]:
    """The folders that a line of shell changes to, as they are written."""
    return _CD.findall(command)


def words_of(command: str) -> list[str]:
    """The words of a line of shell that may be paths."""
    return _WORD.findall(command)


def _named_in(command: str, root: Path, cwd: Path) -> frozenset[str]:
    """The files of a project that a command names, by relative path."""
    folders = (cwd, *(cwd / folder for folder in folders_entered(command)))
    there = {os.path.normpath(folder / word) for word in words_of(command) for folder in folders}
    return frozenset(
        os.path.relpath(path, root) for path in there if Path(path).is_file() or Path(path).is_symlink()
    )


def _matches(name: str, patterns: Sequence[str]) -> bool:
    path = PurePosixPath(name)
    for pattern in patterns:
        folder = pattern.removesuffix("/*")
        if "/" not in pattern and fnmatchcase(path.name, pattern):
            return True
        if "/" in pattern and (fnmatchcase(name, pattern) or fnmatchcase(name, f"*/{pattern}")):
            return True
        if folder != pattern and folder in path.parts[:-1]:
            return True
    return False


def _differs(where: Path, name: str, kept: Kept) -> bool:
    path = where / name
    if kept.link:
        return not path.is_symlink() or led(path, where) != kept.link
    return _digest(path) != kept.digest


def _digest(path: Path) -> str:
    """The SHA-256 of a file's content; "" where there is none that can be read."""
    try:
        return digest_of(path, _COMPARED)
    except Refused:
        return ""


def _clear(copy: Path, name: str) -> None:
    """Make room for a file in a copy: nothing lies there, and the way to it leads through folders alone."""
    place = copy
    for part in PurePosixPath(name).parts[:-1]:
        place /= part
        # What was a folder may lead elsewhere by now.
        if place.is_symlink() or place.is_file():
            place.unlink()
        place.mkdir(exist_ok=True)
    target = copy / name
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
