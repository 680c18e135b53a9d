"""The reader of a YAML file of settings: every mistake in it becomes one line, with its place.

The files are plain lists of `name: value`. Anchors, tags and nesting are refused, so that
each line can be understood without the others, and no file can expand while it is read.
"""

import codecs
import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from terp.settings import Settings
from terp.settings.profile_values import hint, quoted, read_group, unknown, value_of
from terp.settings.setting import Setting, table
from terp.settings.sources import Given
from terp.text.dataclasses import dataclass, field, replace
from terp.text.paths import typed_path

if TYPE_CHECKING:
    from terp.analysis.rules.rule import Verdict

MODELINE = "# yaml-language-server: $schema="
"""The beginning of a line that names the schema to an editor."""
LARGEST_BYTES = 64 * 1024
_OTHER_ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


class UnreadableSettings(Exception):
    """A file cannot be read as settings; it has the line (0: the whole file) and the reason."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(line, why)
        self.line, self.why = line, why


@dataclass(slots=True)
class ProfileFile:
    """A file of settings as read: its values (`given`), its description, and its problems.

    `description` is its first comment line. `named` are the entries of `NAMES_A_PROFILE`. `refused` are lines
    about settings that its author may not set.
    """

    path: Path
    given: dict[str, Given] = field(default_factory=dict)
    named: dict[str, Given] = field(default_factory=dict)
    description: str = ""
    problems: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def profile_under(self, key: str) -> tuple[str, str]:
        """Return the profile named by the entry `key`, and the place of that entry; "" without one."""
        one = self.named.get(key)
        return (one.value, one.origin) if one else ("", "")

    def profiles(self) -> Iterator[tuple[str, str]]:
        """Yield all profiles that the file names, each with the place of the entry."""
        for one in self.named.values():
            if isinstance(one.value, Mapping):
                yield from zip(one.value.values(), one.places, strict=False)
            else:
                yield one.value, one.origin


FileKind = Literal["profile", "config", "project"]
"""A profile of the user's, their `config.yaml`, or a project's file."""
NAMES_A_PROFILE: Mapping[FileKind, Mapping[str, Setting]] = {
    "profile": {"extends": Setting("the profile that this one extends")},
    "config": {
        "profile": Setting("the profile to use unless the call names another"),
        "folders": Setting(
            "the profile to use in each of these folders and below",
            kind="mapping",
            keys=r"[~/].*",
            metavar="a full path, or one with ~",
        ),
    },
    "project": {
        "extends": Setting("the shipped profile that this file extends"),
        "profile": Setting("the profile of the user's to use in this project"),
    },
}
"""The entries that name other profiles, for each kind of file; they are no settings of a session."""


def read_profile(path: Path, *, kind: FileKind = "profile", content: bytes | None = None) -> ProfileFile:
    """Read the file at `path`; problems are collected, not raised.

    If its `content` was read already, that is used.
    """
    profile = ProfileFile(path)
    place = short_path(path)
    try:
        text = decoded_text(content_of(path) if content is None else content)
        profile.description = _first_comment(text)
        for line, name, node in _entries(text):
            _take(profile, f"{place}:{line}", name, node, kind)
    except UnreadableSettings as refused:
        profile.problems.append(
            f"{place}:{refused.line}: {refused.why}" if refused.line else f"{place}: {refused.why}"
        )
    if kind == "project":
        _refuse(profile)
        profile.given = {name: replace(one, by_project=True) for name, one in profile.given.items()}
    return profile


def short_path(path: Path) -> str:
    """Return a short path: relative to the working directory, or with `~`."""
    with contextlib.suppress(OSError, ValueError):
        return str(path.relative_to(Path.cwd()))
    with contextlib.suppress(RuntimeError, ValueError):
        return f"~/{path.relative_to(Path.home())}"
    return str(path)


def content_of(path: Path) -> bytes:
    """Return the content of a file of settings, cut behind the largest that is read.

    Raises:
        UnreadableSettings: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise UnreadableSettings(0, f"cannot be read: {error.strerror}.") from error


def decoded_text(raw: bytes) -> str:
    """Return the text of a file of settings.

    Raises:
        UnreadableSettings: it is too large, or not UTF-8.
    """
    if len(raw) > LARGEST_BYTES:
        raise UnreadableSettings(0, "is larger than 64 KB; a profile holds settings only.")
    for mark, encoding in _OTHER_ENCODINGS.items():
        if raw.startswith(mark):
            raise UnreadableSettings(0, f"is written in {encoding}; save it as UTF-8.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UnreadableSettings(line, "this line is not UTF-8; save the file as UTF-8.") from error


def _first_comment(text: str) -> str:
    for line in text.lstrip().splitlines():
        if not line.startswith("#"):
            return ""
        # What is for an editor says nothing to a person.
        if not line.startswith(MODELINE):
            return line.lstrip("# ").rstrip()
    return ""


def _entries(text: str) -> Iterable[tuple[int, str, Any]]:
    # Importing yaml costs as much as the rest of terp's start; a file of comments needs none of it.
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines()):
        return ()
    from terp.settings.yaml_entries import entries  # noqa: PLC0415  (see above)

    return entries(text)


def _take(profile: ProfileFile, where: str, name: str, node: Any, kind: FileKind) -> None:
    """Add one entry, or its problem, to `profile`."""
    naming = NAMES_A_PROFILE[kind]
    rows = {name: row for name, row in table(Settings).items() if row.in_files} | dict(naming)
    row = rows.get(name)
    if row is None:
        profile.problems.append(f"{where}: {_unknown(name, list(rows), kind)}")
    elif name in profile.seen:
        profile.problems.append(f"{where}: '{name}' is set twice in this file.")
    else:
        profile.seen.add(name)
        try:
            value = _value(profile, where, name, row, node)
            if row.are_paths:
                # Nobody knows in which directory, with whose files in it, the settings will be read.
                value = tuple(str(profile.path.absolute().parent / typed_path(one)) for one in value)
        except ValueError:
            profile.problems.append(
                f"{where}: '{name}' is {quoted(node)}, must be {row.rule}.{hint(row, node)}"
            )
            return
        if name in naming:
            named = node.value if row.kind == "mapping" else ()
            profile.named[name] = Given(value, where, _places(where, [key for key, _ in named]))
        elif row.kind == "rules":
            profile.given[name] = _rules(profile, where, name, value, node)
        else:
            profile.given[name] = Given(value, where)


def _rules(profile: ProfileFile, where: str, name: str, rules: tuple[str, ...], node: Any) -> Given:
    """Add rules, each with its line; a malformed rule becomes a problem."""
    from terp.settings.rules import problem_with  # noqa: PLC0415  (few files have rules)

    places = _places(where, node.value)
    for rule, place in zip(rules, places, strict=True):
        if problem := problem_with(cast("Verdict", name), rule):
            profile.problems.append(f"{place}: {problem}")
    return Given(rules, where, places)


def _places(where: str, nodes: Iterable[Any]) -> tuple[str, ...]:
    """Return the places of nodes in the file of `where`."""
    file = where.rpartition(":")[0]
    return tuple(f"{file}:{node.start_mark.line + 1}" for node in nodes)


def _refuse(profile: ProfileFile) -> None:
    """Remove settings that a project may not set, with a line about each; the others stay."""
    rows = table(Settings)
    for name, one in list(profile.given.items()):
        if "project" not in rows[name].sources:
            del profile.given[name]
            profile.refused.append(
                f"{one.origin}: '{name}' is not taken from a project; only you can set it, "
                f"with {_long_flag(name)} or in a file of your own."
            )


def _value(profile: ProfileFile, where: str, name: str, row: Setting, node: Any) -> Any:
    if row.kind != "mapping" or node.id != "mapping":
        return value_of(row, node)
    group = read_group(row, node, name)
    place = where.rpartition(":")[0]
    profile.problems += [f"{place}:{line}: {why}" for line, why in group.problems]
    return group.value


def _unknown(name: str, settable: list[str], kind: FileKind) -> str:
    if name in ("profile", "extends"):
        return f"'{name}' is called '{next(iter(NAMES_A_PROFILE[kind]))}' in this file."
    if name in NAMES_A_PROFILE["config"]:
        return f"'{name}' belongs into config.yaml."
    if name in table(Settings):
        return f"'{name}' belongs to one call and cannot be set in a file; use {_long_flag(name)}."
    return unknown(name, settable, "terp --help lists them.")


def _long_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
