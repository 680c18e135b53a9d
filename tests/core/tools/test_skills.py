"""Skills: where they are found, what the model reads of them, and their mistakes."""

from pathlib import Path

import pytest

from terp.errors import TerpError
from terp.settings.places import Places
from terp.settings.project.files import bare_project, read_project
from terp.settings.project.standing import survey_of
from terp.tools.files.declared import Tool
from terp.tools.skills import Skills, find_skills, skill_of

SKILL = "---\nname: {name}\ndescription: {about}\n---\n\n# {name}\nUse scripts/run.py.\n"
NO_DESCRIPTION = "`description` is missing: by it the model finds the skill."
RULE = "must be a-z, 0-9 and single hyphens, at most 64."


def write(folder: Path, name: str, about: str = "Does it.") -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(SKILL.format(name=name, about=about))
    return path


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "config", tmp_path / "state", tmp_path / "agents")


def test_skills_of_the_user_and_of_a_trusted_project_are_found_and_the_user_wins(
    tmp_path: Path, places: Places
) -> None:
    root = tmp_path / "work"
    (root / ".git").mkdir(parents=True)
    write(root / ".claude/skills", "one", "of Claude's folder")
    write(root / ".agents/skills", "one", "of the project")
    write(root / ".agents/skills", "two", "of the project")
    write(places.shared / "skills", "two", "of all agents")
    write(places.config / "skills", "three", "of terp")
    project = read_project(root, {}, lambda _path, _content: True)
    found = find_skills(places, project)
    assert {name: (one.description, one.by_project) for name, one in found.by_name.items()} == {
        "one": ("of the project", True),
        "two": ("of all agents", False),
        "three": ("of terp", False),
    }


def test_skills_of_a_project_that_is_not_trusted_are_not_read(tmp_path: Path, places: Places) -> None:
    write(tmp_path / ".agents/skills", "one")
    project = read_project(tmp_path, {})
    assert find_skills(places, project) == Skills()
    assert project.ignored == (tmp_path / ".agents/skills/one/SKILL.md",)


def test_every_file_of_a_skill_is_part_of_the_trusted_state(tmp_path: Path) -> None:
    path = write(tmp_path / ".agents/skills", "one")
    digests = [survey_of(tmp_path, {}).digest]
    (path.parent / "run.py").write_text("print(1)\n")
    digests.append(survey_of(tmp_path, {}).digest)
    (path.parent / "run.py").write_text("print(2)\n")
    digests.append(survey_of(tmp_path, {}).digest)
    assert len(set(digests)) == 3


def test_a_project_with_only_a_command_needs_trust(tmp_path: Path) -> None:
    (tmp_path / ".claude/commands").mkdir(parents=True)
    (tmp_path / ".claude/commands/go.md").write_text("Go.\n")
    assert [(part.name, part.kind) for part in survey_of(tmp_path, {}).used] == [
        (".claude/commands/go.md", "command")
    ]


def test_the_model_reads_names_and_descriptions_within_a_limit(places: Places, tmp_path: Path) -> None:
    for number in range(20):
        write(places.config / "skills", f"s{number:02}", "x" * 1_000)
    tool = find_skills(places, bare_project(tmp_path)).described(Tool("skill", "Return it.", (), "terp"))
    lines = tool.description.split("\n")
    assert lines[0] == "Return it."
    assert lines[1] == f"- s00: {'x' * 1_000}"
    assert (len(lines), lines[-1]) == (13, "… 9 more: skill() returns the list.")


async def test_the_instructions_come_with_the_folder(places: Places, tmp_path: Path) -> None:
    path = write(places.config / "skills", "one")
    skills = find_skills(places, bare_project(tmp_path))
    assert await skills.read({"name": "one"}) == (
        f"[skill one; its files are in {path.parent}]\n\n# one\nUse scripts/run.py."
    )


async def test_an_unknown_skill_is_an_error_that_names_the_others(places: Places, tmp_path: Path) -> None:
    write(places.config / "skills", "one")
    with pytest.raises(TerpError, match=r"There is no skill 'two'. There are: one\."):
        await find_skills(places, bare_project(tmp_path)).read({"name": "two"})


@pytest.mark.parametrize(
    ("content", "problems"),
    [
        ("none", ["1: `name` is missing.", f"1: {NO_DESCRIPTION}"]),
        (SKILL.format(name="One", about="x"), [f"2: `name` is 'One', {RULE}"]),
        (SKILL.format(name="two", about="x"), ["2: `name` is 'two', must be that of its folder, 'one'."]),
        (
            SKILL.format(name="one", about="x" * 1_025),
            ["3: `description` has 1,025 characters of at most 1,024."],
        ),
        (
            "---\nname: one\ndescription: x\nname: one\n---\nDo.\n",
            ["4: `name` is set twice."],
        ),
        ("---\nname: one\ndescription: x\n---\n", ["1: there are no instructions below the entries."]),
        (SKILL.format(name="one", about="fine"), []),
    ],
)  # fmt: skip
def test_mistakes_have_their_lines(tmp_path: Path, content: str, problems: list[str]) -> None:
    path = tmp_path / "one/SKILL.md"
    found = skill_of(path, content.encode()).problems
    assert [line.removeprefix(f"{path}:") for line in found] == problems


def test_what_a_skill_would_permit_is_only_shown(tmp_path: Path) -> None:
    content = b"---\nname: one\ndescription: x\nallowed-tools: Bash(git:*)\n---\nDo.\n"
    assert skill_of(tmp_path / "one/SKILL.md", content).not_granted == (
        "; asks for Bash(git:*), which is not granted"
    )


def test_the_folder_of_a_linked_skill_is_the_real_one_which_a_sandbox_shows(
    places: Places, tmp_path: Path
) -> None:
    real = write(tmp_path / "elsewhere", "one").parent
    (places.config / "skills").mkdir(parents=True)
    (places.config / "skills/one").symlink_to(real)
    assert find_skills(places, bare_project(tmp_path)).folders == (str(real),)
