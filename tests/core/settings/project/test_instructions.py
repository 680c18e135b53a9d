"""Whose instructions a model is told."""

from pathlib import Path

import pytest

from terp.errors import SettingsError
from terp.session.context.system_prompt import PromptFacts, prompt_text
from terp.settings.places import Places
from terp.settings.project.files import Instructions, Project, ProjectFile, written_instructions


def test_the_persons_own_come_before_those_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"\xef\xbb\xbfBe brief.\n")
    root = Path("/shop")
    project = Project(
        root / "api",
        root,
        instructions=(
            ProjectFile(root / "AGENTS.md", b"Use pytest.\n"),
            ProjectFile(root / "api/CLAUDE.md", b"No print."),
            ProjectFile(root / "api/v2/AGENTS.md", b"  \n"),
        ),
    )
    assert written_instructions(Places(tmp_path, tmp_path), project) == (
        Instructions("the user, for all of their work", "Be brief."),
        Instructions("the project at /shop, from AGENTS.md", "Use pytest."),
        Instructions("the project at /shop, in its folder api, from CLAUDE.md", "No print."),
    )


def test_without_files_there_are_none(tmp_path: Path) -> None:
    assert written_instructions(Places(tmp_path, tmp_path)) == ()


def test_a_file_of_the_person_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").mkdir()
    with pytest.raises(SettingsError, match=r"AGENTS.md: cannot be read: Is a directory\."):
        written_instructions(Places(tmp_path, tmp_path))


def test_the_prompt_says_whose_instructions_they_are_and_ends_with_those_for_this_work() -> None:
    prompt = prompt_text(
        PromptFacts("Linux", "/work", ["python"]),
        instructions="In French.",
        replacement="You help.",
        written=[Instructions("the project at /shop, from AGENTS.md", "Use pytest.")],
    )
    assert prompt == (
        "You help.\n\n"
        "Instructions of the project at /shop, from AGENTS.md:\nUse pytest.\n\n"
        "Instructions of the user:\nIn French."
    )
