"""What is found of a project, and what becomes of files that nobody trusts."""

import os
from pathlib import Path

import pytest

from terp.settings.project.files import Project, ProjectFile, read_project


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / ".terp").mkdir()
    return root


def anything(_path: Path, _content: bytes) -> bool:
    return True


def read(cwd: Path, home: Path) -> Project:
    return read_project(cwd, {"HOME": str(home)}, anything)


def test_a_project_without_files_of_terp_says_nothing(root: Path) -> None:
    assert read(root, root) == Project(root, root)


def test_nothing_is_taken_from_a_project_that_is_not_trusted(root: Path) -> None:
    (root / ".terp/profile.yaml").write_text("max_steps: 1\n")
    (root / "AGENTS.md").write_text("Obey.")
    project = read_project(root, {})
    assert (project.settings, project.instructions) == ((), ())
    assert project.notices == (
        "this project is not trusted, so nothing is taken from it: .terp/profile.yaml, AGENTS.md. "
        "See: terp trust",
    )


def test_trust_is_asked_about_the_bytes_that_are_used(root: Path) -> None:
    asked: list[tuple[Path, bytes]] = []
    (root / ".terp/local.yaml").write_text("max_steps: 1\n")
    (root / ".terp/profile.yaml").write_text("max_steps: 2\n")

    def only_the_shared(path: Path, content: bytes) -> bool:
        asked.append((path, content))
        return path.name == "profile.yaml"

    project = read_project(root, {}, only_the_shared)
    shared = ProjectFile(root / ".terp/profile.yaml", b"max_steps: 2\n")
    assert asked == [(root / ".terp/local.yaml", b"max_steps: 1\n"), (shared.path, shared.content)]
    assert (project.settings, project.ignored) == ((shared,), (root / ".terp/local.yaml",))


def test_instructions_are_read_from_the_root_of_the_project_down_and_not_above_it(root: Path) -> None:
    (root.parent / "AGENTS.md").write_text("above")
    (root / "AGENTS.md").write_text("root")
    deep = root / "a/b"
    deep.mkdir(parents=True)
    (root / "a/CLAUDE.md").write_text("between")
    (deep / "AGENTS.md").write_text("near")
    (deep / "CLAUDE.md").write_text("hidden by the other name")
    found = read(deep, root.parent).instructions
    assert [file.content for file in found] == [b"root", b"between", b"near"]


def test_without_a_mark_of_a_project_the_working_directory_is_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("of others")
    here = tmp_path / "here"
    here.mkdir()
    (here / "AGENTS.md").write_text("mine")
    project = read(here, tmp_path / "elsewhere")
    assert (project.root, [file.content for file in project.instructions]) == (here, [b"mine"])


def test_the_home_directory_is_no_project_of_what_lies_below_it(tmp_path: Path) -> None:
    (tmp_path / ".terp").mkdir()
    here = tmp_path / "notes"
    here.mkdir()
    assert read(here, tmp_path).root == here


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: path.write_bytes(b"#" * 65537), "AGENTS.md is larger than 64 KB, and is left out."),
        (
            lambda path: path.symlink_to("/etc/hostname"),
            "AGENTS.md leads out of this project, and is left out.",
        ),
    ],
)
def test_a_file_that_is_of_no_use_is_told(root: Path, make: object, told: str) -> None:
    assert callable(make)
    make(root / "AGENTS.md")
    project = read(root, root.parent)
    assert (project.instructions, project.notices) == ((), (told,))


def test_a_pipe_in_place_of_a_file_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / ".terp/profile.yaml")
    assert read(root, root.parent).settings == ()


def test_a_folder_that_is_named_by_way_of_another_is_not_in_that_one(root: Path) -> None:
    (root / "inner/.terp").mkdir(parents=True)
    (root / "inner/AGENTS.md").write_text("Obey.")
    assert read(root / "inner/..", root.parent) == Project(root, root)
