"""The trust of the user in a project: a survey of the files that configure terp, and the decision about it.

The digest of a survey changes with any byte. For an environment, whose packages change with each
installation, it covers the `pyvenv.cfg` and the program behind `bin/python`, with the bytes of that program
if it lies in the project too. No program is started and no module imported for it, git least of all.
"""

import json
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal

from terp.settings.interpreter import ProjectPython, suggested_python
from terp.settings.places import Places
from terp.settings.project.decisions import Answer, Decision, Decisions
from terp.settings.project.files import (
    COMMANDS,
    LARGEST_BYTES,
    LARGEST_TOOLS_BYTES,
    MOST_FILES,
    SETTINGS,
    SKILLS,
    TOOLS,
    name_below,
    named_instructions,
)
from terp.settings.project.folders import OF_TERP, Folders, folders_of
from terp.text.dataclasses import dataclass
from terp.text.digest import sha256
from terp.text.files import Refused, digest_of, read_bounded

Kind = Literal[
    "settings", "tools", "instructions", "skill", "command", "python", "kernelspec", "other", "refused"
]
_LARGEST_PROGRAM = 256 << 20
_LARGEST_OF_SKILL = 64 << 20
_VERSION = "terp trust 1"
_KINDS: Mapping[str, Kind] = {**dict.fromkeys(SETTINGS, "settings"), **dict.fromkeys(TOOLS, "tools")}
State = Literal["nothing", "open", "yes", "no"]
"""No file of it configures terp; no decision about its present state; or the decision."""


@dataclass(frozen=True, slots=True)
class SurveyedPart:
    """A file, or an environment, that configures terp: its name below the root, and its SHA-256.

    `why` is the reason why a refused part is never used.
    """

    name: str
    kind: Kind
    digest: str
    why: str = ""


@dataclass(frozen=True)
class Survey:
    """A project as it is now. `python` is its environment, if it has one."""

    folders: Folders
    parts: tuple[SurveyedPart, ...] = ()
    python: ProjectPython | None = None

    @property
    def root(self) -> Path:
        """The folder that all names are below."""
        return self.folders.root

    @property
    def used(self) -> tuple[SurveyedPart, ...]:
        """Return the parts that are used once the project is trusted."""
        return tuple(part for part in self.parts if part.kind not in ("refused", "other"))

    @cached_property
    def digest(self) -> str:
        """One SHA-256 for all parts; it does not depend on where the project lies."""
        rows = [[part.name, part.kind, part.digest] for part in self.parts]
        return sha256(json.dumps([_VERSION, sorted(rows)], ensure_ascii=True).encode())

    def holds(self, path: Path, content: bytes) -> bool:
        """Return True if the survey has a used file with exactly these bytes."""
        name = name_below(self.folders.root, path)
        return any(part.name == name and part.digest == sha256(content) for part in self.used)


def survey_of(cwd: str | Path, environ: Mapping[str, str]) -> Survey:
    """Return the files in the project around `cwd` that configure terp."""
    folders = folders_of(cwd, environ)
    python = suggested_python(str(folders.cwd), environ)
    tops = (OF_TERP, *(one for one in (*SKILLS, *COMMANDS) if not one.startswith(f"{OF_TERP}/")))
    found = [
        *(part for top in tops for part in _in_folder(folders, top)),
        *_instructions(folders),
        *(_python(folders, python) if python else ()),
    ]
    unique = {part.name: part for part in found}
    return Survey(folders, tuple(unique[name] for name in sorted(unique)), python)


def _in_folder(folders: Folders, folder: str) -> Iterator[SurveyedPart]:
    """Yield all files below a folder, also unknown ones: the next version may read them."""
    top = folders.root / folder
    if top.is_symlink() and not _inside(top, folders.root):
        target = sha256(os.fsencode(top.readlink()))
        yield SurveyedPart(folder, "refused", target, "leads out of this project")
        return
    paths = list(islice(_below(top), MOST_FILES + 1))
    if len(paths) > MOST_FILES:
        yield SurveyedPart(folder, "refused", "", f"holds more than {MOST_FILES} files")
        return
    for path in paths:
        name = str(path.relative_to(folders.root))
        kind = _kind(name)
        sizes: Mapping[Kind, int] = {"other": LARGEST_TOOLS_BYTES, "tools": LARGEST_TOOLS_BYTES}
        yield _file(folders, path, kind, sizes.get(kind, LARGEST_BYTES))


def _kind(name: str) -> Kind:
    if name.startswith(tuple(f"{folder}/" for folder in SKILLS)):
        return "skill"
    if name.startswith(tuple(f"{folder}/" for folder in COMMANDS)) and name.endswith(".md"):
        return "command"
    return _KINDS.get(name, "other")


def _below(top: Path) -> Iterator[Path]:
    """Yield all files below a folder, by name; links to folders are not followed."""
    for folder, names, files in os.walk(top):
        names.sort()
        linked = [name for name in names if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in sorted([*files, *linked]))


def _instructions(folders: Folders) -> Iterator[SurveyedPart]:
    for folder in folders.within:
        path = named_instructions(folder)
        if path.is_symlink() or path.exists():
            yield _file(folders, path, "instructions", LARGEST_BYTES)


def _file(folders: Folders, path: Path, kind: Kind, largest: int) -> SurveyedPart:
    """Return a part with the digest of its bytes; of a link also of its target, which is refused outside."""
    name = str(path.relative_to(folders.root))
    target = path.readlink() if path.is_symlink() else ""
    try:
        if not _inside(path, folders.root):
            raise Refused("leads out of this project")
        # Files beside a SKILL.md may be large, and only code reads them.
        large = kind == "skill"
        digest = digest_of(path, _LARGEST_OF_SKILL) if large else sha256(read_bounded(path, largest))
        return SurveyedPart(name, kind, digest)
    except Refused as refused:
        return SurveyedPart(name, "refused", sha256(os.fsencode(f"{target}\n{refused}")), str(refused))


def _python(folders: Folders, python: ProjectPython) -> Iterator[SurveyedPart]:
    prefix = Path(python.path).parent.parent
    config = prefix / "pyvenv.cfg"
    try:
        stated = read_bounded(config, LARGEST_BYTES) if config.exists() else b""
        program = Path(os.path.realpath(python.path))
        own = digest_of(program, _LARGEST_PROGRAM) if program.is_relative_to(folders.root.resolve()) else ""
    except Refused as refused:
        yield SurveyedPart(name_below(folders.root, Path(python.path)), "refused", "", str(refused))
        return
    yield SurveyedPart(name_below(folders.root, config), "python", sha256(stated))
    seen = json.dumps([python.path, str(program), own]).encode()
    yield SurveyedPart(name_below(folders.root, Path(python.path)), "python", sha256(seen))
    yield from _kernelspecs(folders, prefix)


def _kernelspecs(folders: Folders, prefix: Path) -> Iterator[SurveyedPart]:
    specs = sorted(islice(prefix.glob("share/jupyter/kernels/*/kernel.json"), MOST_FILES))
    for path in specs:
        if path.is_relative_to(folders.root):
            yield _file(folders, path, "kernelspec", LARGEST_BYTES)


def _inside(path: Path, root: Path) -> bool:
    # Path.resolve raises for a circle of links, in some versions of Python.
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


class Standing:
    """A surveyed project and the decision about that state; as a function it implements `Trust`."""

    def __init__(self, survey: Survey, decisions: Decisions) -> None:
        self.survey = survey
        self._decisions = decisions
        self._root = os.path.realpath(survey.root)
        self.state: State = "nothing"
        """The present decision."""
        if survey.used:
            self.state = decisions.about(self._root, survey.digest) or "open"

    @property
    def problem(self) -> str:
        """A line about a file of decisions that cannot be read; "" if the project needs no decision."""
        return self._decisions.problem if self.survey.used else ""

    def __call__(self, path: Path, content: bytes) -> bool:
        """Return True if a file with exactly these bytes is trusted."""
        return self.state == "yes" and self.survey.holds(path, content)

    def answer(self, answer: Answer, *, keep: bool) -> None:
        """Set the decision for this process; with `keep`, store it until a byte of the project changes.

        Raises:
            DecisionsUnreadable: the file of decisions is damaged.
            OSError: it cannot be written.
        """
        self.state = answer
        if keep:
            self._decisions.keep(Decision(self._root, self.survey.digest, answer))


def standing_of(cwd: str | Path, environ: Mapping[str, str], places: Places) -> Standing:
    """Return the trust in the project around `cwd`."""
    return Standing(survey_of(cwd, environ), Decisions(places.trust))
