"""Files of instructions: the person's own `AGENTS.md`, and those of a project that is trusted."""

from collections.abc import Iterator
from dataclasses import dataclass

from terp.errors import SettingsError
from terp.settings.places import Places
from terp.settings.project.files import Project


@dataclass(frozen=True, slots=True)
class Instructions:
    """A text that the model is to follow, and the words that tell it whose it is."""

    whose: str
    text: str


def written_instructions(places: Places, project: Project | None = None) -> tuple[Instructions, ...]:
    """The instructions of all files, the person's first, then those of the project from its root on.

    Raises:
        SettingsError: the person's file is there and cannot be read.
    """
    found = [*_own(places), *(_of_project(project) if project else ())]
    return tuple(one for one in found if one.text)


def _own(places: Places) -> Iterator[Instructions]:
    try:
        content = places.instructions.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise SettingsError([f"{places.instructions}: cannot be read: {error.strerror}."]) from error
    yield Instructions("the user, for all of their work", _text(content))


def _of_project(project: Project) -> Iterator[Instructions]:
    for file in project.instructions:
        folder = file.path.parent.relative_to(project.root)
        where = f"in its folder {folder}, from {file.path.name}" if folder.name else f"from {file.path.name}"
        yield Instructions(f"the project at {project.root}, {where}", _text(file.content))


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig", errors="replace").strip()
