"""Lines for users and models: the changes of a run to variables and files, and where it was stopped."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from terp.events.outputs import FileChange, StoppedAt, VariableChange
from terp.text.files import size_text

_SIGNS = {"new": "+", "changed": "~", "removed": "−"}
_WORDS = {"new": "new ", "changed": "changed ", "removed": "removed "}
# Below it a size is no news.
_LARGE = 100_000
_MOST = 12
_MOST_FILES = 8


def delta_line(changes: Sequence[VariableChange], more: int = 0) -> str:
    """Return the changes: `+df DataFrame 10,000×12 9.4 MB · ~n 3 → 4 · −tmp`; "" when there are none.

    The first dozen is named, and the rest counted.
    """
    return " · ".join(delta_parts(changes, more))


def delta_parts(changes: Sequence[VariableChange], more: int = 0) -> list[str]:
    """Return the same by variable."""
    return _listed(changes, more, _SIGNS)


def delta_words(changes: Sequence[VariableChange], more: int = 0) -> str:
    """Return the same for a screen reader: `new df DataFrame 10,000×12; changed n 3 to 4; removed tmp`."""
    listed = (one.replace(" → ", " to ").replace(" · ", ", ") for one in _listed(changes, more, _WORDS))
    return "; ".join(listed)


def shape_text(shape: Sequence[int]) -> str:
    """Format a shape or length: `10,000×12`."""
    return "×".join(f"{size:,}" for size in shape)


def file_there(change: FileChange) -> str:
    """Return where a file of another machine is, as text to follow its path or that of its copy here."""
    return f"copy of {change.path} at {change.host}" if change.copy else f"at {change.host}"


def file_name(path: str, cwd: str) -> str:
    """Return the path of a file, relative to the working directory if it is below it."""
    name = PurePath(path)
    return str(name.relative_to(cwd)) if cwd and name.is_relative_to(cwd) else path


def lines_text(change: FileChange) -> str:
    """Return the numbers of added and removed lines: `+1 −1`; "" where they are not known."""
    return line_counts(change.added, change.removed) if change.added or change.removed else ""


def line_counts(added: int, removed: int) -> str:
    """Return the numbers of added and removed lines: `+1,200 −1`."""
    return f"+{added:,} −{removed:,}"


def stopped_line(stopped: StoppedAt) -> str:
    """Return where a run was stopped: `line 7 in fit: total = sum(xs)   (i = 41, xs = list of 10,000)`."""
    place = f"line {stopped.line}"
    if stopped.file:
        place += f" of {stopped.file}"
    elif stopped.run:
        place += f" of run {stopped.run}"
    if stopped.function:
        place += f" in {stopped.function}"
    if stopped.inside:
        place += f" (in {stopped.inside})"
    source = f": {stopped.source}" if stopped.source else ""
    values = ", ".join(f"{held.name} = {held.value}" for held in stopped.values)
    return f"{place}{source}{f'   ({values})' if values else ''}"


def _listed(changes: Sequence[VariableChange], more: int, marks: Mapping[str, str]) -> list[str]:
    described = [_described(change, marks[change.action] + change.name) for change in changes[:_MOST]]
    more += len(changes) - len(described)
    if more:
        described.append(f"and {more:,} more" if described else f"{more:,} names were added or removed")
    return described


def _described(change: VariableChange, named: str) -> str:
    if change.now:
        return " · ".join((f"{named} {change.was} → {change.now}", *change.facts))
    if change.facts and change.action == "changed":
        return f"{named}: {' · '.join(change.facts)}"
    if change.action == "removed" or (change.action == "changed" and not change.shape):
        return named
    size = size_text(change.size) if change.size is not None and change.size >= _LARGE else ""
    shape = shape_text(change.shape)
    told = " ".join(part for part in (named, change.type, shape, size) if part)
    return f"{told}: {' · '.join(change.facts)}" if change.facts else told


def file_groups(files: Sequence[FileChange]) -> Iterator[Sequence[FileChange]]:
    """Return the changed files in groups, deleted ones first; up to 8 files are groups of one."""
    for action in dict.fromkeys(("deleted", *(change.action for change in files))):
        these = [change for change in files if change.action == action]
        yield from [these] if len(files) > _MOST_FILES and these else [[change] for change in these]


def described_files(files: Sequence[FileChange], cwd: str) -> str:
    """Return the name of one changed file; of several, their number in each folder."""
    if len(files) > 1:
        return f"{len(files)} files: {by_folder(files)}"
    [change] = files
    source = f"{file_name(change.source, cwd)} → " if change.source else ""
    there = f" {file_there(change)}" if change.host else ""
    return f"{source}{change.copy or file_name(change.path, cwd)}{there}"


def by_folder(files: Sequence[FileChange]) -> str:
    """Return the number of files by folder, below their common folder: `2019/ 12, 2020/ 28`."""
    folders = Counter(PurePath(change.path).parent for change in files)
    # A path of another machine may be relative.
    known = all(folder.is_absolute() for folder in folders)
    above = os.path.commonpath([*folders, next(iter(folders)).parent]) if known else "."
    most = folders.most_common(_MOST_FILES)
    counted = [f"{folder.relative_to(above) if known else folder}/ {count}" for folder, count in most]
    return ", ".join(counted) + (", …" if len(folders) > len(counted) else "")
