"""What trust in a project would change, in words, found without running or importing anything of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from terp.errors import SettingsError
from terp.settings import Settings
from terp.settings.interpreter import version_of
from terp.settings.loading import Loaded
from terp.settings.profile_file import read_profile
from terp.settings.project.files import Project, ProjectFile, read_project
from terp.settings.project.standing import Standing
from terp.settings.setting import table
from terp.tools.files.reading import functions_in

Load = Callable[[Project | None], Loaded]
"""The settings of the call, with what a project says or without any."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What would be another way than now, in lines that have a short word before them.

    `changed` are words and lines about what would count, `refused` lines about what never does, and
    `problems` what is wrong with the files. `files` holds each that would be used, by its name.
    """

    changed: tuple[tuple[str, str], ...] = ()
    refused: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)


def difference_of(standing: Standing, environ: Mapping[str, str], load: Load) -> Difference:
    """What a project would change that is as `standing` has seen it."""
    survey = standing.survey
    # As if it were trusted: just what was seen, so that nothing else can come in with it.
    project = read_project(survey.folders.cwd, environ, survey.holds)
    problems = list(project.problems)
    refused: tuple[str, ...] = ()
    changed: list[tuple[str, str]] = []
    try:
        loaded = load(project)
        refused = loaded.notices
        changed += _settings(load(None).settings, loaded.settings)
    except SettingsError as error:
        problems += error.problems
        read = [read_profile(one.path, content=one.content, source="project") for one in project.settings]
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
    used = (*project.settings, *project.instructions, *project.tools)
    files = {_name(project, file): file.content for file in used}
    return Difference(tuple(changed), refused, tuple(problems), files)


def _instructions(project: Project) -> Iterator[tuple[str, str]]:
    for file in project.instructions:
        number = len(file.content.splitlines())
        lines = "1 line" if number == 1 else f"{number} lines"
        yield "instructions", f"{lines} of {_name(project, file)}, told to the model"


def _name(project: Project, file: ProjectFile) -> str:
    return str(file.path.relative_to(project.root))


def _settings(before: Settings, after: Settings) -> Iterator[tuple[str, str]]:
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
    """A value of a setting, on one line, as a person writes it."""
    if value is None or value in ("", ()):
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:59]}…"
