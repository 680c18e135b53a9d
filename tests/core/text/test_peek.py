"""A short look into files."""

from pathlib import Path

import pytest

from terp.text.peek import Peek, Room, peek

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000002800000" + "01e0")


@pytest.mark.parametrize(
    ("content", "kind", "encoding"),
    [
        (b"", "empty", ""),
        (b"a,b\n1,2\n", "comma-separated values", "utf-8"),
        (b"a\tb\n1\t2\n", "tab-separated values", "utf-8"),
        (b'{"a": 1}\n{"a": 2}\n', "JSON lines", "utf-8"),
        (b'{\n"a": 1}\n', "JSON", "utf-8"),
        (b"Hello, you.\nBye.\n", "text", "utf-8"),
        ("Größe\n".encode("latin-1"), "text", "latin-1"),
        ("a,b\n1,2\n".encode("utf-16"), "comma-separated values", "utf-16"),
        (b"\xef\xbb\xbfx\n", "text", "utf-8-sig"),
        (b"%PDF-1.7 \n", "PDF document", ""),
        (PNG, "PNG image, 640×480 pixels", ""),
        (bytes(range(256)), "binary data", ""),
    ],
)
def test_the_kind_of_a_file_is_told_from_its_beginning(
    tmp_path: Path, content: bytes, kind: str, encoding: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    look = peek(path, Room(3))
    assert (look.kind, look.encoding, look.size) == (kind, encoding, len(content))


def test_only_the_first_lines_are_shown_and_long_ones_cut(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x" * 1000 + "\nb\nc\nd\n")
    assert peek(path, Room(3, whole=100)).lines == ("x" * 300 + "… (1,000 characters)", "b", "c")


def test_a_small_text_is_shown_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x" * 1000 + "\n\nc" * 1000 + "\n")
    assert peek(path, Room(3)).beginning == "all 2,001 lines:\n" + "x" * 1000 + "\n\nc" * 1000


def test_where_no_code_reads_the_rest_all_lines_are_shown_that_have_room(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("é" * 4 + "\nb\nc\nd\n")
    look = peek(path, Room(None, whole=12))
    assert (look.lines, look.whole) == (("é" * 4, "b"), False)


def test_a_character_cut_where_reading_stops_is_still_text(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a" + "é" * 40_000, encoding="utf-8")
    assert peek(path, Room(1)).encoding == "utf-8"


def test_a_look_is_told_in_words() -> None:
    assert Peek(4551, "text", "latin-1").facts == "4,551 bytes, text, LATIN-1"
    assert Peek(9, "text", "utf-8", ("a", "b")).beginning == "its first 2 lines:\na\nb"
    assert Peek(4, "text", "utf-8", ("a", "b"), whole=True).beginning == "all 2 lines:\na\nb"
