"""The files of a project: a copy of them for a check, and the originals of those that define the check."""

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Literal

from terp.errors import TerpError
from terp.text.dataclasses import dataclass
from terp.text.files import Refused, digest_of, read_bounded

# Caches, which programs create again; a compiled module could replace a source with other content.
_LEFT_OUT = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"})
# Large, and not what a check is about: links in the copy lead to them.
_LINKED = frozenset({".git", ".hg", ".svn", ".terp", ".venv", "node_modules", ".tox", ".nox"})
_LARGE = 8 << 20
MOST_FILES, MOST_BYTES = 20_000, 500 << 20

Entry = tuple[str, Literal["file", "link", "folder"]]


class TooLarge(TerpError):
    """The project has more files, or more bytes, than a check copies."""

    def __init__(self, root: Path) -> None:
        super().__init__(
            f"{root} is too large to be copied for a check: it has more than {MOST_FILES:,} files, "
            f"or more than {MOST_BYTES >> 20} MB in files below {_LARGE >> 20} MB.",
            "Start terp in the folder that the check is about, or make a repository of it.",
        )


def entries(root: Path) -> Iterator[Entry]:
    """Yield the relative paths below `root` that a copy has, each folder before its contents.

    A "link" is not copied: a link in the copy leads to it.

    Raises:
        TooLarge: the project has too many files or bytes.
    """
    size = 0
    for files, entry in enumerate(_below(root, ""), start=1):
        with suppress(OSError):
            size += (root / entry[0]).lstat().st_size if entry[1] == "file" else 0
        if files > MOST_FILES or size > MOST_BYTES:
            raise TooLarge(root)
        yield entry


def copy_project(root: Path, to: Path) -> None:
    """Copy a project to the new folder `to`, except files that disappear meanwhile or may not be read.

    Raises:
        TooLarge: the project has too many files or bytes.
        TerpError: the disk has no room.
    """
    to.mkdir()
    for name, kind in entries(root):
        source, target = root / name, to / name
        try:
            if kind == "folder":
                target.mkdir()
            elif kind == "file":
                shutil.copy2(source, target, follow_symlinks=False)
            else:
                target.symlink_to(link_target(source, root))
        except (FileNotFoundError, PermissionError):
            continue
        except OSError as error:
            fact = f"{root} cannot be copied for a check: {error.strerror}."
            raise TerpError(fact, "Free space, or set TMPDIR to a folder on another disk.") from error


def _below(root: Path, folder: str) -> Iterator[Entry]:
    try:
        with os.scandir(root / folder) as found:
            inside = sorted(found, key=lambda one: one.name)
    except OSError:
        return
    for one in inside:
        name = f"{folder}/{one.name}" if folder else one.name
        if one.name in _LEFT_OUT:
            continue
        if one.is_dir(follow_symlinks=False):
            linked = one.name in _LINKED or os.path.lexists(os.path.join(one.path, "pyvenv.cfg"))  # noqa: PTH118
            yield name, "link" if linked else "folder"
            if not linked:
                yield from _below(root, name)
        elif one.is_symlink():
            yield name, "link"
        elif one.is_file(follow_symlinks=False):
            yield name, "link" if one.stat(follow_symlinks=False).st_size > _LARGE else "file"


def link_target(source: Path, root: Path) -> str:
    """Return the target of a link in the copy: inside the project as written, else absolute."""
    if not source.is_symlink():
        return str(source)
    leads = str(source.readlink())
    end = os.path.normpath(source.parent / leads)
    inside = not os.path.isabs(leads) and Path(end).is_relative_to(root)  # noqa: PTH117
    return leads if inside else end


TESTS = (
    *("test_*.py", "*_test.py", "*.test.*", "*.spec.*", "*_test.go", "*_spec.rb"),
    *("tests/*", "test/*", "__tests__/*", "spec/*"),
)
"""Patterns of test files. For the check they are put back as they were; those that are new do not count."""
STEERING = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg"),
    *("*.egg-info/entry_points.txt", "*.dist-info/entry_points.txt"),
    *("pyproject.toml", ".coveragerc", "noxfile.py", "sitecustomize.py", "usercustomize.py"),
    *("Makefile", "makefile", "GNUmakefile", "justfile", "package.json", "jest.config.*", "vitest.config.*"),
)
"""Patterns of files that configure a check: they are put back as they were; new ones are left out."""

FREE = "!"
"""The prefix of a pattern of files that the model may change although they are protected."""
_MODULES = (".py", ".pyc", ".so")
_NO_FILE = (None, "folder")
_KEPT_FILE, _KEPT_ALL = 1 << 20, 64 << 20
_COMPARED = 500 << 20
_CD = re.compile(r"\bcd\s+([^\s'\"|&;<>()$`]+)")
_WORD = re.compile(r"[^\s'\"|&;<>()$`]+")


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """A file as it was; without `content` it is too large to be restored.

    For a link to a folder, `link` is its target, and the rest is empty.
    """

    digest: str
    content: bytes | None
    mode: int
    link: str = ""


@dataclass(frozen=True, slots=True)
class Differences:
    """The files of a check that differ from the originals, by relative path; `new` ones are left out of it.

    New `tests` count if the project had none before.
    """

    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()

    @property
    def restored(self) -> tuple[str, ...]:
        """The files that a check replaces by their originals or leaves out."""
        return (*self.changed, *self.missing, *self.new)


class Originals:
    """The protected files of a project, by relative path, as they were when this was made.

    Protected are files with tests, files that configure a check (`STEERING` and `patterns`), files that its
    `command` names, and files that hold some of the `tests` which it found. A pattern with a / matches paths,
    any other matches names. A pattern behind a ! names files that the model may change all the same.

    A check leaves out new files of the same kinds, and modules that would be imported in place of one that
    `installed` returns True for. Hooks and tests in the files `judges` were there from the start.

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
        judges: Sequence[str] = (),
        installed: Callable[[str], bool] = sys.stdlib_module_names.__contains__,
    ) -> None:
        self.judges = frozenset(judges)
        self._root = root
        self._installed = installed
        free = (pattern[1:] for pattern in patterns if pattern.startswith(FREE))
        # Tests that the command names before they exist are what the model is asked to write.
        self._free = (*free, *_tests_to_come(command, root, cwd))
        self._patterns = (*STEERING, *(pattern for pattern in patterns if not pattern.startswith(FREE)))
        found = (Path(file) for file in tests)
        own = {str(file.relative_to(root)) for file in found if file.is_relative_to(root)}
        self._named = _named_in(command, root, cwd) | own
        self._there = dict(entries(root))
        self.files: Mapping[str, OriginalFile] = dict(self._protected())
        tested = {name for name in self.files if name in own or _matches(name, TESTS)}
        self._above_tests = {str(above) for name in tested for above in PurePosixPath(name).parents}

    def differences(self, where: Path) -> Differences:
        """Compare the project, or a copy of it, `where` it lies now with the originals."""
        there = dict(entries(where))
        missing = {name for name in self.files if there.get(name, "folder") == "folder"}
        # A file below a folder that has become a link counts as missing: the link may lead anywhere.
        changed = [
            name for name, kept in self.files.items() if name not in missing and _differs(where, name, kept)
        ]
        come = [
            name for name, kind in there.items() if kind != "folder" and self._there.get(name) in _NO_FILE
        ]
        tests = [name for name in come if _matches(name, TESTS) and not _matches(name, self._free)]
        new = [name for name in come if self._steers(name) or self._stands_in(name, there)]
        if self._above_tests:
            tests, new = [], list({*new, *tests})
        return Differences(*(tuple(sorted(names)) for names in (changed, missing, new, tests)))

    def _stands_in(self, name: str, there: Mapping[str, str]) -> bool:
        """Return True if a new file would be imported under a name that something else had."""
        path = PurePosixPath(name)
        if _matches(name, self._free):
            return False
        if path.name == "__init__.py" and str(path.parent) in self._above_tests:
            return True
        come = [one for one in (*path.parents, path) if one.name and str(one) not in self._there]
        return any(
            self._is_import(one, there) and self._installed(one.name.partition(".")[0]) for one in come
        )

    def _is_import(self, path: PurePosixPath, there: Mapping[str, str]) -> bool:
        """Return True if the new file or folder is a top-level module."""
        package = str(path.parent / "__init__.py")
        if package in self._there or (package in there and str(path.parent) not in self._there):
            return False
        kind = there.get(str(path))
        return (
            (kind == "file" and path.suffix in _MODULES)
            or kind == "link"
            or str(path / "__init__.py") in there
        )

    def restore(self, copy: Path, other: Sequence[str]) -> tuple[str, ...]:
        """Restore files of a copy, and remove new ones; return those that cannot be restored."""
        lost = []
        # Links last: restoring one removes whatever has taken its place.
        for name in sorted(other, key=self._is_link):
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

    def new_files(self, copy: Path) -> tuple[str, ...]:
        """Return the new files of a copy if the project had tests: pytest may find tests in any of them."""
        come = (name for name in dict(entries(copy)) if name not in self._there)
        return tuple(name for name in come if self._above_tests and not _matches(name, self._free))

    def state(self, copy: Path) -> Mapping[str, tuple[int, ...]]:
        """Return inode and times of the original files in a copy, by which `touched` detects changes."""
        found = {}
        for name in self.files:
            with suppress(OSError):
                stat = (copy / name).lstat()
                found[name] = (stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns)
        return found

    def touched(self, copy: Path, before: Mapping[str, tuple[int, ...]]) -> tuple[str, ...]:
        """Return the files of a copy that were written since, and new ones that configure a check."""
        after = self.state(copy)
        come = (name for name in self.differences(copy).new if self._steers(name) or name.endswith(_MODULES))
        return tuple(sorted({*come, *(name for name in before if after.get(name) != before[name])}))

    def _protected(self) -> Iterator[tuple[str, OriginalFile]]:
        room = _KEPT_ALL
        for name, kind in self._there.items():
            path = self._root / name
            leads = kind == "link" and path.is_symlink() and path.is_dir()
            inside = f"{name}/*" if leads else name
            if kind == "folder" or not self._protects(name, inside):
                continue
            if leads:
                yield name, OriginalFile("", None, 0, link_target(path, self._root))
                continue
            try:
                content, mode = read_bounded(path, min(_KEPT_FILE, room)), path.stat().st_mode & 0o777
            except (Refused, OSError):
                # Too large to be kept: only a change can be detected. Or it cannot be read at all.
                if digest := _digest(path):
                    yield name, OriginalFile(digest, None, 0o600)
                continue
            room -= len(content)
            yield name, OriginalFile(hashlib.sha256(content).hexdigest(), content, mode)

    def _protects(self, name: str, inside: str) -> bool:
        if _matches(name, self._free):
            return False
        return name in self._named or self._steers(inside) or _matches(inside, TESTS)

    def _steers(self, name: str) -> bool:
        return not _matches(name, self._free) and (name in self._named or _matches(name, self._patterns))


def folders_entered(command: str) -> list[str]:
    """Return the folders that a shell command changes to, as they are written."""
    return _CD.findall(command)


def words_of(command: str) -> list[str]:
    """Return the words of a shell command that may be paths."""
    return _WORD.findall(command)


def _named_in(command: str, root: Path, cwd: Path) -> frozenset[str]:
    """Return the files of a project that a command names, by relative path."""
    folders = (cwd, *(cwd / folder for folder in folders_entered(command)))
    there = {os.path.normpath(folder / word) for word in words_of(command) for folder in folders}
    return frozenset(
        os.path.relpath(path, root) for path in there if Path(path).is_file() or Path(path).is_symlink()
    )


def _tests_to_come(command: str, root: Path, cwd: Path) -> Iterator[str]:
    """Yield the tests that a command names and that do not exist, by relative path."""
    folder = cwd.joinpath(*folders_entered(command))
    for word in words_of(command):
        path = Path(os.path.normpath(folder / word.partition("::")[0]))
        if (
            path.is_relative_to(root)
            and not path.exists()
            and _matches(name := str(path.relative_to(root)), TESTS)
        ):
            yield name


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


def _differs(where: Path, name: str, kept: OriginalFile) -> bool:
    path = where / name
    if kept.link:
        return not path.is_symlink() or link_target(path, where) != kept.link
    return _digest(path) != kept.digest


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file's content; "" if it cannot be read."""
    try:
        return digest_of(path, _COMPARED)
    except Refused:
        return ""


def _clear(copy: Path, name: str) -> None:
    """Make room for a file in a copy: remove whatever lies there, or in place of its folders."""
    place = copy
    for part in PurePosixPath(name).parts[:-1]:
        place /= part
        # A link in place of a folder would lead the restored file elsewhere.
        if place.is_symlink() or place.is_file():
            place.unlink()
        place.mkdir(exist_ok=True)
    target = copy / name
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
