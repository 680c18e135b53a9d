"""What runs leave behind in the session's folder."""

import os
from pathlib import Path

import pytest

from terp.events.outputs import Display
from terp.session.artifacts import Artifacts, Spool


def test_a_spool_that_is_full_keeps_its_beginning_and_says_so(tmp_path: Path) -> None:
    spool = Spool(Artifacts(tmp_path), "c1", limit=5)
    for text in ("abc", "def", "ghi"):
        spool.add(text)
    spool.close()
    assert Path(spool.path).read_text() == "abcde"
    assert spool.failure == f"{tmp_path / 'c1.txt'} ends after 5 characters"


def test_a_spool_that_just_fits_is_whole(tmp_path: Path) -> None:
    spool = Spool(Artifacts(tmp_path), "c1", limit=6)
    for text in ("abc", "def"):
        spool.add(text)
    spool.close()
    assert (Path(spool.path).read_text(), spool.failure) == ("abcdef", "")


def test_what_was_added_is_in_the_file_before_it_is_finished(tmp_path: Path) -> None:
    spool = Spool(Artifacts(tmp_path), "1")
    spool.add("tick\n")
    assert Path(Artifacts(tmp_path).spooled(1)).read_text() == "tick\n"
    spool.close()


def test_a_spool_without_a_place_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    spool = Spool(Artifacts(tmp_path / "file"), "c1")
    for text in ("abc", "def"):
        spool.add(text)
    spool.close()
    assert (spool.path, spool.failure) == ("", f"File exists: {tmp_path / 'file'}")


def test_a_long_private_key_that_comes_in_lines_is_in_no_spool(tmp_path: Path) -> None:
    spool = Spool(Artifacts(tmp_path), "1")
    lines = [f"{number:064}\n" for number in range(200)]
    for text in ("-----BEGIN PRIVATE KEY-----\n", *lines, "-----END PRIVATE KEY-----\n", "after\n"):
        spool.add(text)
    spool.close()
    assert Path(spool.path).read_text() == "[redacted]\nafter\n"


def test_a_spool_is_not_written_through_a_link(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("as it was")
    Artifacts(tmp_path / "outputs").path("1").symlink_to(mine)
    spool = Spool(Artifacts(tmp_path / "outputs"), "1")
    spool.add("evil")
    spool.close()
    assert (mine.read_text(), Path(spool.path).read_text()) == ("as it was", "evil")


def test_a_spool_does_not_wait_at_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "1.txt")
    spool = Spool(Artifacts(tmp_path), "1")
    spool.add("text")
    spool.close()
    assert Path(spool.path).read_text() == "text"


def test_a_picture_is_not_written_through_a_link(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("as it was")
    Artifacts(tmp_path / "outputs").path("1").with_name("1-1.svg").symlink_to(mine)
    saved = Artifacts(tmp_path / "outputs").save("1", Display({"image/svg+xml": "<svg/>"}))
    assert (mine.read_text(), Path(saved.path).read_text()) == ("as it was", "<svg/>")


def test_a_page_with_half_of_a_surrogate_pair_is_saved(tmp_path: Path) -> None:
    saved = Artifacts(tmp_path).save("c1", Display({"text/html": "<b>\ud83d</b>"}))
    assert Path(saved.path).read_text(encoding="utf-8") == "<b>\ufffd</b>"


@pytest.mark.parametrize(
    ("plain", "suffix"),
    [
        ("<IPython.core.display.HTML object>", ".html"),
        ("<pandas.io.formats.style.Styler at 0x7fad2c353fd0>", ".html"),
        ("   a\n0  1", ""),
        ("<a> and <b>", ""),
    ],
)
def test_a_page_is_kept_where_plain_text_says_nothing(tmp_path: Path, plain: str, suffix: str) -> None:
    saved = Artifacts(tmp_path).save("c1", Display({"text/plain": plain, "text/html": "<b>x</b>"}))
    assert Path(saved.path).suffix == suffix


@pytest.mark.parametrize(
    ("mime", "name"), [("audio/wav", "1-1.wav"), ("audio/mpeg", "1-1.mp3"), ("application/pdf", "1-1.pdf")]
)
def test_what_no_terminal_shows_is_kept_as_a_file(tmp_path: Path, mime: str, name: str) -> None:
    saved = Artifacts(tmp_path).save("1", Display({mime: "aGVsbG8=", "text/plain": "<a sound>"}))
    assert (saved.path, Path(saved.path).read_bytes()) == (str(tmp_path / name), b"hello")


def test_bytes_that_cannot_be_read_are_no_file(tmp_path: Path) -> None:
    display = Display({"audio/wav": "!", "text/plain": "<a sound>"})
    assert Artifacts(tmp_path).save("1", display) == display
