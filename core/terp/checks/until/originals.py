"""The files of a project: a copy of them for a check, and the originals of those that define the check."""

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Literal

from terp.errors import TerpError
from terp.settings.project.bounded import Refused, digest_of, read_bounded

# Made anew by whoever wants them; a compiled module could stand in for a source that says something else.
_LEFT_OUT = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"})
# Large, and nothing that a check is about: they are looked at where they are.
_LINKED = frozenset({".git", ".hg", ".svn", ".terp", ".venv", "node_modules", ".tox", ".nox"})
_LARGE = 8 << 20
MOST_FILES, MOST_BYTES = 20_000, 500 << 20

Entry = tuple[str, Literal["file", "link", "folder"]]


class TooLarge(TerpError):
    """A project has more in it than is copied for a check."""

    def __init__(self, root: Path) -> None:
        super().__init__(
            f"{root} is too large to be copied for a check: it has more than {MOST_FILES:,} files, "
            f"or more than {MOST_BYTES >> 20} MB in files below {_LARGE >> 20} MB.",
            "Start terp in the folder that the check is about, or make a repository of it.",
        )


class NotCopied(TerpError):
    """There is no room for a copy of a project."""

    def __init__(self, root: Path, error: OSError) -> None:
        super().__init__(
            f"{root} cannot be copied for a check: {error.strerror}.", "Make room where TMPDIR says."
        )


def entries(root: Path) -> Iterator[Entry]:
    """What is below `root` as a check sees it, by relative path, folders before what is in them.

    A "link" stands for something that stays where it is.

    Raises:
        TooLarge: there is too much.
    """
    size = 0
    for files, entry in enumerate(_below(root, ""), start=1):
        with suppress(OSError):
            size += (root / entry[0]).lstat().st_size if entry[1] == "file" else 0
        if files > MOST_FILES or size > MOST_BYTES:
            raise TooLarge(root)
        yield entry


def copy_project(root: Path, to: Path) -> None:
    """Copy a project to the new folder `to`, but for what disappears meanwhile or may not be read.

    Raises:
        TooLarge: there is too much of it.
        NotCopied: there is no room for it.
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
                target.symlink_to(led(source, root))
        except (FileNotFoundError, PermissionError):
            continue
        except OSError as error:
            raise NotCopied(root, error) from error


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


def led(source: Path, root: Path) -> str:
    """Where a link in the copy leads: as in the project, if that is within it."""
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
"""Files with tests: those that there were are put back, new ones decide nothing."""
STEERING = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg"),
    *("*.egg-info/entry_points.txt", "*.dist-info/entry_points.txt"),
    *("pyproject.toml", ".coveragerc", "noxfile.py", "sitecustomize.py", "usercustomize.py"),
    *("Makefile", "makefile", "GNUmakefile", "justfile", "package.json", "jest.config.*", "vitest.config.*"),
)
"""Files that say what a check does: those that there were are put back, new ones are left out."""

FREE = "!"
"""How a pattern of files begins that are no part of a check after all."""
_MODULES = (".py", ".pyc", ".so")
_NO_FILE = (None, "folder")
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


@dataclass(frozen=True, slots=True)
class Differences:
    """The files of a check that are not as they were, by relative path; those that are `new` do not count.

    New `tests` count where a project had none before.
    """

    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()

    @property
    def put_back(self) -> tuple[str, ...]:
        """The files that the originals are used for, or that are left out."""
        return (*self.changed, *self.missing, *self.new)


class Originals:
    """The protected files of a project, by relative path, as they were when this was made.

    New files beside them are left out of a check: tests, what lies below their folders, what steers it, and
    what would be imported in place of a module that `installed` knows.

    Code in the files `judges` has judged tests before. `patterns` are more of those that steer it, and so is
    every file that its `command` names, or that has some of the `tests` which it found. A pattern with a / in
    it is about paths, another about names; one behind a ! names files that the model may change, whatever
    else says that they are protected.

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
        # Tests that the command names before they are there are what is asked for.
        self._free = (*free, *_tests_to_come(command, root, cwd))
        self._patterns = (*STEERING, *(pattern for pattern in patterns if not pattern.startswith(FREE)))
        found = (Path(file) for file in tests)
        own = {str(file.relative_to(root)) for file in found if file.is_relative_to(root)}
        self._named = _named_in(command, root, cwd) | own
        self._there = dict(entries(root))
        self.files: Mapping[str, Kept] = dict(self._kept())
        tested = {name for name in self.files if name in own or _matches(name, TESTS)}
        self._above_tests = {str(above) for name in tested for above in PurePosixPath(name).parents}

    def differences(self, where: Path) -> Differences:
        """The files that are not as they were, or that have come beside them.

        `where` is the project or a copy of it.
        """
        there = dict(entries(where))
        missing = {name for name in self.files if there.get(name, "folder") == "folder"}
        # What lies below something that is now a link is not looked at, and may be anything.
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
        """Whether a new file changes what a test or its runner imports by a name that there was."""
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
        """Whether what is new at a path is a module that is in no package."""
        package = str(path.parent / "__init__.py")
        if package in self._there or (package in there and str(path.parent) not in self._there):
            return False
        kind = there.get(str(path))
        return (
            (kind == "file" and path.suffix in _MODULES)
            or kind == "link"
            or str(path / "__init__.py") in there
        )

    def put_back(self, copy: Path, other: Sequence[str]) -> tuple[str, ...]:
        """Make these files of a copy as they were; those for which that cannot be done."""
        lost = []
        # A link last: what has come where it was goes with it.
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
        """The files of a copy in which pytest may find tests that there were not, whatever their names."""
        come = (name for name in dict(entries(copy)) if name not in self._there)
        return tuple(name for name in come if self._above_tests and not _matches(name, self._free))

    def state(self, copy: Path) -> Mapping[str, tuple[int, ...]]:
        """When the original files of a copy were written last."""
        found = {}
        for name in self.files:
            with suppress(OSError):
                stat = (copy / name).lstat()
                found[name] = (stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns)
        return found

    def touched(self, copy: Path, before: Mapping[str, tuple[int, ...]]) -> tuple[str, ...]:
        """The files of a copy that were written since, and those that steer a check and have come."""
        after = self.state(copy)
        come = (name for name in self.differences(copy).new if self._steers(name) or name.endswith(_MODULES))
        return tuple(sorted({*come, *(name for name in before if after.get(name) != before[name])}))

    def is_protected(self, name: str) -> bool:
        """Whether a file, by relative path, is one of those that check."""
        return name in self.files

    def _kept(self) -> Iterator[tuple[str, Kept]]:
        room = _KEPT_ALL
        for name, kind in self._there.items():
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


def _tests_to_come(command: str, root: Path, cwd: Path) -> Iterator[str]:
    """Tests that a command names and that are not there, by relative path."""
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
