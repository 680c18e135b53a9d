"""Files that go with a prompt."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from terp.errors import AttachmentError
from terp.events.messages import Attachment
from terp.session.attachments import attach, named_files, text_room, with_attachments
from terp.settings import Settings
from terp.text.peek import Room
from tests.awkward import NAMES
from tests.core.text.test_peek import PNG


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


def named(prompt: str, cwd: Path, **more: Any) -> list[tuple[str, str, str]]:
    """Name, note and line for the user of what a prompt names."""
    hides: Callable[[Path], bool] = more.pop("hides", lambda path: False)
    found = named_files(prompt, cwd, hides, lambda text: text.replace("hunter2", "[redacted]"), **more)
    return [(one.name, one.note, one.notice) for one in found]


def test_a_file_that_the_prompt_names_is_described(cwd: Path) -> None:
    (cwd / "sub").mkdir()
    (cwd / "sub/my data.csv").write_text("a,b\n1,hunter2\n")
    assert named('What is in "sub/my data.csv"?', cwd) == [
        (
            "sub/my data.csv",
            "[File: sub/my data.csv] 14 bytes, comma-separated values; all 2 lines:\na,b\n1,[redacted]",
            "Sent with the prompt: all of sub/my data.csv.",
        )
    ]


def test_of_a_long_file_the_first_lines_are_sent_and_named_to_the_user(cwd: Path) -> None:
    (cwd / "long.txt").write_text("".join(f"line {n}\n" for n in range(1000)))
    [(_, note, told)] = named("(see `long.txt`)", cwd)
    assert note.endswith("its first 20 lines:\n" + "\n".join(f"line {n}" for n in range(20)))
    assert told == "Sent with the prompt: lines 1-20 of long.txt."


def test_no_more_than_2_kb_of_a_named_file_are_sent(cwd: Path) -> None:
    (cwd / "wide.txt").write_text(("x" * 250 + "\n") * 100)
    [(_, note, _)] = named("wide.txt", cwd)
    assert len(note) < 2_200


@pytest.mark.parametrize("name", [".env", "sub/key.pem", "hidden.txt"])
def test_of_a_file_with_secrets_only_name_and_size_are_sent(cwd: Path, name: str) -> None:
    (cwd / "sub").mkdir()
    (cwd / name).write_text("PASSWORD=x\n")
    assert named(f"look at {name}.", cwd, hides=lambda path: path.name == "hidden.txt") == [
        (
            name,
            f"[File: {name}] 11 bytes; its name is one of secrets, so nothing of it is sent.",
            f"Not sent: {name}, which may hold secrets.",
        )
    ]


def test_a_link_to_a_file_with_secrets_does_not_send_it(cwd: Path) -> None:
    (cwd / ".env").write_text("PASSWORD=x\n")
    (cwd / "notes.txt").symlink_to(cwd / ".env")
    [(_, note, _)] = named("notes.txt", cwd)
    assert "PASSWORD" not in note


@pytest.mark.parametrize(
    "prompt", ["../outside.txt", "{outside}", "link.txt", "sub/", "data", "@here.txt", "x.y"]
)
def test_what_is_no_file_below_the_directory_or_no_path_is_not_sent(
    tmp_path: Path, cwd: Path, prompt: str
) -> None:
    (tmp_path / "outside.txt").write_text("x")
    (cwd / "link.txt").symlink_to(tmp_path / "outside.txt")
    (cwd / "sub").mkdir()
    for name in ("data", "here.txt"):
        (cwd / name).write_text("x")
    assert named(prompt.format(outside=tmp_path / "outside.txt"), cwd) == []


def test_three_files_are_described_each_once_and_none_that_is_attached(cwd: Path) -> None:
    for name in "abcde":
        (cwd / f"{name}.txt").write_text(name)
    found = named("a.txt ./a.txt b.txt, c.txt; d.txt e.txt", cwd, without=["b.txt"])
    assert [name for name, _, _ in found] == ["a.txt", "c.txt", "d.txt"]
