"""A copy of a project has what a check may want to see, and nothing that could speak for something else."""

import os
from pathlib import Path

import pytest

from terp.checks.until.originals import MOST_FILES, TooLarge, copy_project, entries
from tests.core.checks.until.projects import write


def test_files_and_folders_are_copied(tmp_path: Path) -> None:
    write(tmp_path / "here", {"a.py": "a", "parts/b.py": "b"})
    copy_project(tmp_path / "here", tmp_path / "there")
    there = {str(one.relative_to(tmp_path / "there")) for one in (tmp_path / "there").rglob("*")}
    assert there == {"a.py", "parts", "parts/b.py"}


def test_repositories_and_environments_stay_where_they_are(tmp_path: Path) -> None:
    write(
        tmp_path / "here", {".git/HEAD": "", "node_modules/a.js": "", "env/pyvenv.cfg": "", "env/bin/x": ""}
    )
    assert list(entries(tmp_path / "here")) == [(".git", "link"), ("env", "link"), ("node_modules", "link")]


def test_compiled_modules_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"parts/__pycache__/a.cpython-311.pyc": "x"})
    assert list(entries(tmp_path)) == [("parts", "folder")]


def test_links_lead_where_they_led(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    write(here, {"data/a.csv": "a"})
    write(tmp_path, {"b.csv": "b"})
    (here / "inside").symlink_to("data/a.csv")
    (here / "outside").symlink_to("../b.csv")
    copy_project(here, there)
    assert str((there / "inside").readlink()) == "data/a.csv"
    assert str((there / "outside").readlink()) == str(tmp_path / "b.csv")


def test_a_file_that_is_larger_than_others_is_a_link(tmp_path: Path) -> None:
    write(tmp_path / "here", {"large.csv": "x" * (9 << 20)})
    copy_project(tmp_path / "here", tmp_path / "there")
    assert (tmp_path / "there" / "large.csv").readlink() == tmp_path / "here" / "large.csv"


def test_what_is_no_file_is_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert list(entries(tmp_path)) == []


def test_a_project_with_too_many_files_is_not_copied(tmp_path: Path) -> None:
    for number in range(MOST_FILES // 1_000):
        write(tmp_path, {f"{number}/a": ""})
    for folder in list(tmp_path.iterdir()):
        for number in range(1_000):
            (folder / str(number)).touch()
    with pytest.raises(
        TooLarge, match="is too large to be copied for a check: it has more than 20,000 files"
    ):
        list(entries(tmp_path))
