"""`--out DIR`."""

from pathlib import Path

import pytest

from terp.errors import TerpError
from terp_cli.fronts.oneshot import collect
from tests.awkward import NAMES


def test_files_are_gathered_and_none_is_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "out"
    folder.mkdir(parents=True)
    (folder / "a.csv").write_text("old")
    (tmp_path / "a.csv").write_text("new")
    assert collect([str(tmp_path / "a.csv"), str(tmp_path / "gone.csv")], folder) == [folder / "a-2.csv"]
    assert (folder / "a.csv").read_text() == "old"


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_any_name_is_gathered_beside_one_of_that_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / name).write_text("old")
    (tmp_path / name).write_text("new")
    [found] = collect([str(tmp_path / name)], folder)
    assert (found.read_text(), (folder / name).read_text()) == ("new", "old")


def test_what_is_there_already_stays(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("new")
    assert collect([str(tmp_path / "a.csv")], tmp_path) == [tmp_path / "a.csv"]


def test_the_folder_is_made(tmp_path: Path) -> None:
    assert collect([], tmp_path / "a" / "b") == []
    assert (tmp_path / "a" / "b").is_dir()


def test_a_link_in_the_place_of_a_file_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "a.csv").symlink_to("secret")
    assert collect([str(tmp_path / "a.csv")], tmp_path / "out") == []


def test_a_folder_that_has_become_a_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to("elsewhere")
    (tmp_path / "a.csv").write_text("new")
    with pytest.raises(TerpError, match="has become a link"):
        collect([str(tmp_path / "a.csv")], tmp_path / "out")
    assert list((tmp_path / "elsewhere").iterdir()) == []
