import base64
from pathlib import Path

import pytest

from terp.events import TextDelta
from terp.events.outputs import Display, Error, Text
from terp.secrets.redactor import Redactor
from terp.store.export.writing import FORMATS, ExportFailed, Format, export, slug
from tests.core.store.export.scripted import FOLDER, png, ran, records, session, turn

SECRET = "sk-abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize("format_", FORMATS)
def test_a_file_is_named_by_the_first_words(tmp_path: Path, format_: Format) -> None:
    path = export(session(), FOLDER, format_, tmp_path)
    assert (path, path.exists()) == (tmp_path / f"plot-東京-sales.{format_}", True)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_file_that_exists_is_left_alone(tmp_path: Path, format_: Format) -> None:
    first = export(session(), FOLDER, format_, tmp_path / f"a.{format_}")
    before = first.read_bytes()
    assert export(session(), FOLDER, format_, first) == tmp_path / f"a-2.{format_}"
    assert export(session(), FOLDER, format_, first) == tmp_path / f"a-3.{format_}"
    assert first.read_bytes() == before


def test_a_name_without_its_ending_gets_it(tmp_path: Path) -> None:
    assert export(session(), FOLDER, "py", tmp_path / "mine") == tmp_path / "mine.py"


def test_pictures_lie_beside_the_transcript(tmp_path: Path) -> None:
    (tmp_path / "a_files").mkdir()
    path = export(session(), FOLDER, "md", tmp_path / "a.md")
    assert path == tmp_path / "a-2.md"
    assert "![picture 1](<a-2_files/1.png>)" in path.read_text(encoding="utf-8")
    assert (tmp_path / "a-2_files" / "1.png").read_bytes() == base64.b64decode(png())


def test_an_empty_session_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(ExportFailed, match="nothing to export"):
        export([], FOLDER, "md", tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExportFailed, match=r"nowhere/a\.md cannot be written: No such file or directory"):
        export(session(), FOLDER, "md", tmp_path / "nowhere" / "a.md")


@pytest.mark.parametrize("format_", FORMATS)
def test_secrets_are_taken_out_wherever_they_came_in_pieces(tmp_path: Path, format_: Format) -> None:
    halves = (SECRET[:9], SECRET[9:])
    events = turn(
        f"my key is {SECRET}",
        *(TextDelta(half) for half in halves),
        *ran(
            "c1",
            f"key = '{SECRET}'",
            *(Text("stdout", half) for half in halves),
            Display({"text/html": f"<table><tr><td>{SECRET}</td></tr></table>", "text/plain": SECRET}),
            Error("KeyError", SECRET, (f"KeyError: {SECRET}",)),
            status="error",
        ),
    )
    text = export(records(events), FOLDER, format_, tmp_path, redactor=Redactor()).read_text(encoding="utf-8")
    assert "[redacted]" in text
    assert "abcdefghijkl" not in text


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Plot iris.csv by species!", "plot-iris-csv-by-species"),
        ("../../etc/passwd", "etc-passwd"),
        ("東京 の 売上", "東京-の-売上"),
        ("a" * 80, "a" * 50),
        ("word " * 20, "word-word-word-word-word-word-word-word-word-word"),
        ("…", ""),
    ],
)
def test_a_title_becomes_a_name(title: str, name: str) -> None:
    assert slug(title) == name
