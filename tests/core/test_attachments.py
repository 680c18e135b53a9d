"""Files that go with a prompt."""

import os
from pathlib import Path

import pytest

from terp.attachments import attach, with_attachments
from terp.errors import AttachmentError
from terp.messages import Attachment
from tests.awkward import NAMES
from tests.core.test_peek import PNG


def _copied(source: Path, copy: Path) -> None:
    """Nobody is told."""


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "cwd"
    folder.mkdir()
    return folder


def test_a_file_is_copied_and_described(tmp_path: Path, cwd: Path) -> None:
    source = tmp_path / "iris.csv"
    source.write_text("a,b\n1,2\n")
    copies: list[tuple[Path, Path]] = []
    assert attach([str(source)], cwd, lambda *both: copies.append(both)) == (
        Attachment(
            "iris.csv",
            "[Attachment: iris.csv] It is in the working directory: 8 bytes, comma-separated values; "
            "its first 2 lines:\na,b\n1,2",
        ),
    )
    assert (cwd / "iris.csv").read_text() == "a,b\n1,2\n"
    assert copies == [(source, cwd / "iris.csv")]


def test_a_file_elsewhere_is_described_where_it_is(tmp_path: Path, cwd: Path) -> None:
    source = tmp_path / "iris.csv"
    source.write_text("a,b\n1,2\n")
    assert attach([str(cwd / "../iris.csv")], cwd) == (
        Attachment(
            str(source),
            f"[Attachment: {source}] It is at that path, outside the working directory: 8 bytes, "
            "comma-separated values; its first 2 lines:\na,b\n1,2",
        ),
    )
    assert list(cwd.iterdir()) == []


def test_dots_lead_out_of_the_working_directory_and_back(cwd: Path) -> None:
    (cwd / "a.txt").write_text("x")
    assert [one.name for one in attach([str(cwd / "../cwd/a.txt")], cwd)] == ["a.txt"]


def test_no_existing_file_is_overwritten(tmp_path: Path, cwd: Path) -> None:
    (cwd / "a.csv").write_text("mine")
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text(name)
    attached = attach([str(tmp_path / "x/a.csv"), str(tmp_path / "y/a.csv")], cwd, _copied)
    assert [one.name for one in attached] == ["a-2.csv", "a-3.csv"]
    assert [path.read_text() for path in sorted(cwd.iterdir())] == ["x", "y", "mine"]


def test_the_same_content_is_not_copied_twice(tmp_path: Path, cwd: Path) -> None:
    (tmp_path / "a.csv").write_text("1")
    (cwd / "a.csv").write_text("1")
    assert [one.name for one in attach([str(tmp_path / "a.csv")], cwd, _copied)] == ["a.csv"]
    assert [path.name for path in cwd.iterdir()] == ["a.csv"]


def test_a_file_below_the_working_directory_stays(cwd: Path) -> None:
    (cwd / "sub").mkdir()
    (cwd / "sub/a b.txt").write_text("x")
    assert [one.name for one in attach([str(cwd / "sub/a b.txt")], cwd)] == ["sub/a b.txt"]
    assert [path.name for path in cwd.iterdir()] == ["sub"]


@pytest.mark.parametrize("name", [*NAMES, ".hidden", "a.tar.gz"])
def test_any_name_is_kept(tmp_path: Path, cwd: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    [attached] = attach([str(tmp_path / name)], cwd, _copied)
    assert (attached.name, (cwd / name).read_text()) == (name, "x")


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_under_any_name_leaves_what_is_there(tmp_path: Path, cwd: Path, name: str) -> None:
    (tmp_path / name).write_text("new")
    (cwd / name).write_text("mine")
    [attached] = attach([str(tmp_path / name)], cwd, _copied)
    assert attached.name != name
    assert ((cwd / name).read_text(), (cwd / attached.name).read_text()) == ("mine", "new")


def test_a_name_that_is_no_line_is_shown_as_python_writes_it(cwd: Path) -> None:
    (cwd / "a\nb").write_text("x")
    [attached] = attach([str(cwd / "a\nb")], cwd)
    assert attached.note.startswith(r"[Attachment: 'a\nb'] It is in the working directory: 1 byte")


def test_every_missing_file_is_told_and_nothing_copied(tmp_path: Path, cwd: Path) -> None:
    (tmp_path / "there.txt").write_text("x")
    with pytest.raises(AttachmentError) as caught:
        attach([str(tmp_path / "there.txt"), "/no/such.csv", str(tmp_path)], cwd, _copied)
    assert caught.value.message == (
        f"there is no file '/no/such.csv' to attach.\n'{tmp_path}' is a directory; attach the files in it."
    )
    assert list(cwd.iterdir()) == []


def test_a_pipe_is_no_attachment(tmp_path: Path, cwd: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(AttachmentError, match="is not a file that can be copied"):
        attach([str(tmp_path / "pipe")], cwd)


def test_an_address_is_not_fetched(cwd: Path) -> None:
    with pytest.raises(AttachmentError, match="download it first"):
        attach(["https://example.com/a.csv"], cwd)


def test_a_picture_goes_along_for_models_that_see(tmp_path: Path, cwd: Path) -> None:
    (tmp_path / "p.png").write_bytes(PNG)
    [attached] = attach([str(tmp_path / "p.png")], cwd, _copied)
    assert attached.note == (
        "[Attachment: p.png] It is in the working directory: 24 bytes, PNG image, 640×480 pixels."
    )
    assert attached.image is not None
    assert attached.image.mime == "image/png"


def test_a_prompt_without_attachments_is_unchanged() -> None:
    assert with_attachments("  as it is ", ()) == "  as it is "


def test_attachments_without_words_ask_to_be_confirmed() -> None:
    assert "Confirm" in with_attachments(" ", (Attachment("a", "a"),))
    assert with_attachments("look", (Attachment("a", "a"),)) == "look"
