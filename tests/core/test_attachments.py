"""Files that go with a prompt."""

import os
from pathlib import Path

import pytest

from terp.attachments import attach, text_room, with_attachments
from terp.errors import AttachmentError
from terp.messages import Attachment
from terp.peek import Room
from terp.settings import Settings
from tests.awkward import NAMES
from tests.core.test_peek import PNG


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "cwd"
    folder.mkdir()
    return folder


def test_a_file_elsewhere_is_described_where_it_is(tmp_path: Path, cwd: Path) -> None:
    source = tmp_path / "iris.csv"
    source.write_text("a,b\n1,2\n")
    assert attach([str(cwd / "../iris.csv")], cwd) == (
        Attachment(
            str(source),
            f"[Attachment: {source}] It is at that path, outside the working directory: 8 bytes, "
            "comma-separated values; all 2 lines:\na,b\n1,2",
            source=str(source),
        ),
    )
    assert list(cwd.iterdir()) == []


def test_dots_lead_out_of_the_working_directory_and_back(cwd: Path) -> None:
    (cwd / "a.txt").write_text("x")
    assert [one.name for one in attach([str(cwd / "../cwd/a.txt")], cwd)] == ["a.txt"]


def test_a_file_below_the_working_directory_stays(cwd: Path) -> None:
    (cwd / "sub").mkdir()
    (cwd / "sub/a b.txt").write_text("x")
    assert [one.name for one in attach([str(cwd / "sub/a b.txt")], cwd)] == ["sub/a b.txt"]
    assert [path.name for path in cwd.iterdir()] == ["sub"]


@pytest.mark.parametrize("name", [*NAMES, ".hidden", "a.tar.gz"])
def test_any_name_is_kept(tmp_path: Path, cwd: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    [attached] = attach([str(tmp_path / name)], cwd)
    assert attached.name == str(tmp_path / name)


def test_a_name_that_is_no_line_is_shown_as_python_writes_it(cwd: Path) -> None:
    (cwd / "a\nb").write_text("x")
    [attached] = attach([str(cwd / "a\nb")], cwd)
    assert attached.note.startswith(r"[Attachment: 'a\nb'] It is in the working directory: 1 byte")


def test_every_missing_file_is_told(tmp_path: Path, cwd: Path) -> None:
    (tmp_path / "there.txt").write_text("x")
    with pytest.raises(AttachmentError) as caught:
        attach([str(tmp_path / "there.txt"), "/no/such.csv", str(tmp_path)], cwd)
    assert caught.value.message == (
        f"there is no file '/no/such.csv' to attach.\n'{tmp_path}' is a directory; attach the files in it."
    )
    assert list(cwd.iterdir()) == []


def test_a_pipe_is_no_attachment(tmp_path: Path, cwd: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(AttachmentError, match="is not a file that can be attached"):
        attach([str(tmp_path / "pipe")], cwd)


def test_an_address_is_not_fetched(cwd: Path) -> None:
    with pytest.raises(AttachmentError, match="download it first"):
        attach(["https://example.com/a.csv"], cwd)


def test_a_picture_goes_along_for_models_that_see(tmp_path: Path, cwd: Path) -> None:
    (cwd / "p.png").write_bytes(PNG)
    [attached] = attach([str(cwd / "p.png")], cwd)
    assert attached.note == (
        "[Attachment: p.png] It is in the working directory: 24 bytes, PNG image, 640×480 pixels."
    )
    assert attached.image is not None
    assert attached.image.mime == "image/png"


def test_without_code_a_text_is_attached_as_far_as_the_window_has_room(cwd: Path) -> None:
    (cwd / "long.py").write_text("def f(): pass\n" * 1000)
    settings = Settings(model="openai/m", code=False, context_window=4000, compact_at=100, max_tokens=1000)
    room, told = text_room(settings, {}), list[str]()
    [attached] = attach([str(cwd / "long.py")], cwd, room, told.append)
    assert room == Room(lines=None, whole=6000)
    assert attached.note.endswith("; its first 428 lines:" + "\ndef f(): pass" * 428)
    assert told == [f"{cwd / 'long.py'} is cut: the model reads its first 428 lines of 14,000 bytes."]


def test_with_code_a_long_text_is_described_by_its_first_lines(cwd: Path) -> None:
    (cwd / "long.py").write_text("def f(): pass\n" * 1000)
    told = list[str]()
    [attached] = attach([str(cwd / "long.py")], cwd, text_room(Settings(), {}), told.append)
    assert attached.note.endswith("; its first 5 lines:" + "\ndef f(): pass" * 5)
    assert told == []


def test_a_prompt_without_attachments_is_unchanged() -> None:
    assert with_attachments("  as it is ", ()) == "  as it is "


def test_attachments_without_words_ask_to_be_confirmed() -> None:
    assert "Confirm" in with_attachments(" ", (Attachment("a", "a"),))
    assert with_attachments("look", (Attachment("a", "a"),)) == "look"
