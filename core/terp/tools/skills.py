"""Skills: folders with a SKILL.md, whose instructions the model reads when it needs them.

The format is that of https://agentskills.io/specification. A skill grants nothing: code that it leads to is
approved as any other.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from terp.errors import TerpError
from terp.settings.front_matter import FrontMatter, read_front_matter
from terp.settings.places import Places
from terp.settings.profile_file import short_path
from terp.settings.project.files import LARGEST_SKILL_BYTES, SKILL_FILE, Project
from terp.text.dataclasses import dataclass, field, replace
from terp.text.files import Refused, read_bounded
from terp.tools.files.declared import Tool

FUNCTION = "skill"
"""The function of the kernel that returns a skill."""
_ENTRIES = ("name", "description", "allowed-tools")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST_NAME, _LONGEST_DESCRIPTION = 64, 1_024
_MOST_CHARS = 12_000


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill: its name, the description that the model always reads, and its instructions (`body`).

    `folder` holds its files, and `by_project` is True if a project brought it. `wanted_tools` is what it
    would permit in other agents; terp only shows it. `problems` are mistakes, each with file and line.
    """

    name: str
    description: str
    body: str
    folder: Path
    by_project: bool = False
    wanted_tools: str = ""
    problems: tuple[str, ...] = ()

    @property
    def not_granted(self) -> str:
        """A phrase about `wanted_tools`, to follow the place of the skill."""
        return f"; asks for {self.wanted_tools}, which is not granted" if self.wanted_tools else ""


@dataclass(frozen=True, slots=True)
class Skills:
    """The skills of a session by name, and lines about those that cannot be used.

    `here` is False if code runs on another machine, which has no files of theirs.
    """

    by_name: Mapping[str, Skill] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    here: bool = True

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that code may read."""
        return tuple(str(skill.folder) for skill in self.by_name.values())

    def described(self, tool: Tool) -> Tool:
        """Return the declaration of the kernel's function with the skills in its description."""
        lines, left = [tool.description], _MOST_CHARS
        for number, skill in enumerate(self.by_name.values()):
            line = f"- {skill.name}: {' '.join(skill.description.split())}"
            left -= len(line)
            if left < 0:
                lines.append(f"… {len(self.by_name) - number} more: skill() returns the list.")
                break
            lines.append(line)
        # They count also where the system prompt, with terp's own tools, is replaced.
        return replace(tool, description="\n".join(lines), source="skills")

    async def read(self, arguments: Mapping[str, Any]) -> str:
        """Return the instructions of a skill; the list of all without a name. Implements a service.

        Raises:
            TerpError: there is no skill of this name.
        """
        name = str(arguments["name"])
        if not name:
            return "\n".join(f"{one.name}: {one.description}" for one in self.by_name.values())
        skill = self.by_name.get(name)
        if skill is None:
            raise TerpError(f"There is no skill '{name[:64]}'. There are: {', '.join(self.by_name)}.")
        where = f"its files are in {skill.folder}" if self.here else "its files are on the user's machine"
        return f"[skill {name}; {where}]\n\n{skill.body}"


def find_skills(places: Places, project: Project, *, here: bool = True) -> Skills:
    """Return the skills of the user, and those of a trusted project; the user's win over the same name."""
    found = [
        *(skill_of(file.path, file.content, by_project=True) for file in project.skills),
        *(skill for folder in places.skills for skill in skills_below(folder)),
    ]
    usable = {skill.name: skill for skill in found if skill.name and skill.description}
    problems = tuple(line for skill in found for line in skill.problems if skill not in usable.values())
    return Skills(dict(sorted(usable.items())), problems, here)


def skills_below(folder: Path) -> Iterator[Skill]:
    """Yield the skills in a folder by name, or the one that the folder is."""
    for path in sorted((*folder.glob(SKILL_FILE), *folder.glob(f"*/{SKILL_FILE}"))):
        try:
            yield skill_of(path, read_bounded(path, LARGEST_SKILL_BYTES))
        except Refused as refused:
            yield Skill("", "", "", path.parent, problems=(f"{short_path(path)} {refused}.",))


def skill_of(path: Path, content: bytes, *, by_project: bool = False) -> Skill:
    """Return the skill in the file at `path`, with its mistakes."""
    read = read_front_matter(content)
    name, description, wanted = map(read.entries.get, _ENTRIES, ("", "", ""))
    found = [read.problem] if read.problem else []
    found += [(read.lines.get(entry, 1), why) for entry, why in _mistakes(read, path.parent)]
    problems = tuple(f"{short_path(path)}:{line}: {why}" for line, why in found)
    return Skill(name, description, read.body, path.parent.resolve(), by_project, wanted, problems)


def _mistakes(read: FrontMatter, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the entry and the sentence of each mistake in a file that is well-formed."""
    name, description, _ = map(read.entries.get, _ENTRIES, ("", "", ""))
    if not name:
        yield "name", "`name` is missing."
    elif len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        yield "name", f"`name` is '{name[:64]}', must be a-z, 0-9 and single hyphens, at most 64."
    elif name != folder.name:
        yield "name", f"`name` is '{name}', must be that of its folder, '{folder.name}'."
    if not description:
        yield "description", "`description` is missing: by it the model finds the skill."
    elif len(description) > _LONGEST_DESCRIPTION:
        yield "description", f"`description` has {len(description):,} characters of at most 1,024."
    if not read.body:
        yield "", "there are no instructions below the entries."
