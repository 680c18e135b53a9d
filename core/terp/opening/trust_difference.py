"""The changes that trust in a project would make, in words; none of its code is run or imported."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from terp.errors import SettingsError
from terp.settings import Settings
from terp.settings.interpreter import version_of
from terp.settings.loading import Loaded
from terp.settings.profile_file import read_profile
from terp.settings.project.files import Project, ProjectFile, bare_project, read_project
from terp.settings.project.standing import Standing
from terp.settings.setting import table
from terp.text.dataclasses import dataclass, field
from terp.text.plain import counted
from terp.text.wording import shortened
from terp.tools.files.reading import functions_in
from terp.tools.skills import Skill, skill_of

Load = Callable[[Project], Loaded]
"""Loads the settings of this invocation in a project."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The changes that trust would make.

    `changed` are pairs of a short heading and a line, `refused` are lines on settings that a project never
    has, and `problems` are errors in its files. `files` are the files that would be used, by name.
    """

    changed: tuple[tuple[str, str], ...] = ()
    refused: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)


def difference_of(standing: Standing, environ: Mapping[str, str], load: Load) -> Difference:
    """Return the changes by a project with the files that `standing` has seen."""
    survey = standing.survey
    # Read as if it were trusted, but only the files that were seen.
    project = read_project(survey.folders.cwd, environ, survey.holds)
    problems = list(project.problems)
    refused: tuple[str, ...] = ()
    changed: list[tuple[str, str]] = []
    try:
        loaded = load(project)
        refused = loaded.notices
        changed += _settings(load(bare_project(project.cwd)).settings, loaded.settings)
    except SettingsError as error:
        problems += error.problems
        read = [read_profile(one.path, content=one.content, kind="project") for one in project.settings]
        refused = tuple(line for file in read for line in file.refused)
    changed += _instructions(project)
    for file in project.tools:
        functions, wrong = functions_in(file)
        problems += wrong
        named = f"{', '.join(functions)} ({_name(project, file)}: read, not run)"
        unmarked = f"none: no function in {_name(project, file)} has @register_tool above it"
        none = "none" if wrong or file.path.suffix != ".py" else unmarked
        changed.append(("tools", named if functions else none))
    changed += _python(standing)
    for file in project.skills:
        skill = skill_of(file.path, file.content, by_project=True)
        problems += skill.problems
        changed.append(("skill", _of_skill(skill, _name(project, file))))
    changed += [("command", f"/{one.path.stem} ({_name(project, one)})") for one in project.commands]
    files = {_name(project, file): file.content for file in project.used}
    return Difference(tuple(changed), refused, tuple(problems), files)


def _instructions(project: Project) -> Iterator[tuple[str, str]]:
    for file in project.instructions:
        lines = counted(len(file.content.splitlines()), "line")
        yield "instructions", f"{lines} of {_name(project, file)}, sent to the model"


def _of_skill(skill: Skill, name: str) -> str:
    return f"{skill.name or 'none'}: {skill.description} ({name}{skill.not_granted})"


def _name(project: Project, file: ProjectFile) -> str:
    return str(file.path.relative_to(project.root))


def _settings(before: Settings, after: Settings) -> Iterator[tuple[str, str]]:
    if before.profile != after.profile:
        yield "profile", f"{before.profile} → {after.profile}"
    for name in table(Settings):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield "settings", f"{name}: {shown(old)} → {shown(new)} ({after.origin(name)})"


def _python(standing: Standing) -> Iterator[tuple[str, str]]:
    python = standing.survey.python
    if python is None:
        return
    version = version_of(python.path)
    program = Path(python.path).resolve()
    what = f"{python.name}{f' (Python {version})' if version else ''} runs the code, by {program}"
    yield "Python", what


def shown(value: object) -> str:
    """Return the value of a setting on one line, as users write it."""
    if value is None or value in ("", ()):
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return shortened(" ".join(str(value).split()), 60)
