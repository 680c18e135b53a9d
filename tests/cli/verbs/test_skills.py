"""`terp skills`: the skills that count, and the mistakes in others."""

from pathlib import Path

import pytest

from tests.cli.running import Terp


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


def skill(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)


def test_skills_are_listed_with_the_tools_that_they_are_not_granted(terp: Terp) -> None:
    skill(terp.home / "skills/csv", "---\nname: csv\ndescription: Reads.\nallowed-tools: Bash\n---\nRead it.")
    listed = terp("skills")
    assert listed.code == 0
    assert listed.out.startswith("csv  Reads. [")
    assert listed.out.endswith("csv; asks for Bash, which is not granted]\n")


def test_a_project_that_is_not_trusted_is_named(terp: Terp) -> None:
    (terp.cwd / ".git").mkdir()
    skill(terp.cwd / ".agents/skills/ours", "---\nname: ours\ndescription: Ours.\n---\nDo it.")
    listed = terp("skills")
    assert listed.out == ""
    assert "nothing is taken from it: .agents/skills/ours/SKILL.md. See: terp trust" in listed.notes


def test_mistakes_are_named_with_file_and_line(terp: Terp) -> None:
    skill(terp.cwd / "mine/csv", "---\nname: CSV\n---\n")
    checked = terp("skills", "check", "mine")
    assert (checked.code, checked.notes) == (
        2,
        "terp: mine/csv/SKILL.md:2: `name` is 'CSV', must be a-z, 0-9 and single hyphens, at most 64.\n"
        "terp: mine/csv/SKILL.md:1: `description` is missing: by it the model finds the skill.\n"
        "terp: mine/csv/SKILL.md:1: there are no instructions below the entries.\n",
    )
