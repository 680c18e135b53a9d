import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from terp.text.files import content_of, make_private, new_file, write_whole


def test_what_stands_in_the_way_of_a_new_file_is_removed(tmp_path: Path) -> None:
    mine, path = tmp_path / "mine", tmp_path / "new"
    mine.write_text("as it was")
    path.symlink_to(mine)
    os.close(new_file(path))
    assert (path.is_symlink(), path.read_text(), mine.read_text()) == (False, "", "as it was")


def test_a_file_is_read_as_far_as_it_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("content")
    assert content_of(path, 4) == b"cont"


@pytest.mark.parametrize("trap", ["link", "pipe", "folder"])
def test_what_is_no_ordinary_file_is_not_read(tmp_path: Path, trap: str) -> None:
    mine, path = tmp_path / "mine", tmp_path / "trap"
    mine.write_text("mine")
    match trap:
        case "link":
            path.symlink_to(mine)
        case "pipe":
            os.mkfifo(path)
        case _:
            path.mkdir()
    with pytest.raises(OSError, match="trap"):
        content_of(path, 100)


def test_directories_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    made = make_private(tmp_path / "a/b")
    assert [path.stat().st_mode & 0o777 for path in (made, made.parent)] == [0o700, 0o700]


def test_threads_that_write_a_file_at_once_leave_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"

    def write(number: int) -> None:
        write_whole(path, json.dumps([number] * 2_000).encode())
        json.loads(path.read_bytes())

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(200)))
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
