"""A preview of a file: its kind, and its text or the first lines of it."""

import codecs
import json
from collections.abc import Callable
from pathlib import Path

from terp.text import pictures
from terp.text.dataclasses import dataclass

_READ_BYTES = 64 * 1024
_LINE_CHARS = 300
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PAR1", "Parquet table"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"\x89HDF\r\n\x1a\n", "HDF5 file"),
    (b"PK\x03\x04", "ZIP archive (also xlsx, docx, npz …)"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"\x93NUMPY", "NumPy array"),
    (b"\x7fELF", "ELF program"),
)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SEPARATORS = (
    ("\t", "tab-separated values"),
    (",", "comma-separated values"),
    (";", "semicolon-separated values"),
)


@dataclass(frozen=True, slots=True)
class Room:
    """The limits for text that is shown: all of a text of up to `whole` bytes.

    Of a longer one it is the first `lines`, of up to `cut` characters; None stands for all lines that fit
    into `whole` bytes.
    """

    lines: int | None
    whole: int = 8_192
    cut: int = 3_000


@dataclass(frozen=True, slots=True)
class Peek:
    """A preview of a file. `encoding` is "" if it is not text; `lines` are its first lines, or all."""

    size: int
    kind: str
    encoding: str = ""
    lines: tuple[str, ...] = ()
    whole: bool = False

    @property
    def facts(self) -> str:
        """Size and kind in words."""
        encoding = f", {self.encoding.upper()}" if self.encoding not in ("", "utf-8") else ""
        return f"{self.size:,} bytes, {self.kind}{encoding}"

    @property
    def beginning(self) -> str:
        """The first lines under a heading; "" if there are none."""
        if not self.lines:
            return ""
        count = len(self.lines)
        only, several = ("only", "all {:,} lines") if self.whole else ("first", "its first {:,} lines")
        heading = f"its {only} line" if count == 1 else several.format(count)
        return "\n".join([f"{heading}:", *self.lines])


def peek(path: Path, room: Room, redacted: Callable[[str], str] = str) -> Peek:
    """Return a preview of the file at `path`; `redacted` is applied to its text before it is cut.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(max(_READ_BYTES, room.whole))
    size = path.stat().st_size
    if not head:
        return Peek(size, "empty")
    encoding = _encoding(head, whole=size <= len(head))
    if not encoding:
        return Peek(size, _binary_kind(head))
    lines = _lines(redacted(head.decode(encoding, errors="ignore")), whole=size <= len(head))
    kind = _text_kind(lines)
    if size <= room.whole:
        return Peek(size, kind, encoding, tuple(lines), whole=True)
    if room.lines is None:
        fitting = _lines(head[: room.whole].decode(encoding, errors="ignore"), whole=False)
        return Peek(size, kind, encoding, tuple(fitting))
    return Peek(size, kind, encoding, _cut(lines[: room.lines], room.cut))


def _encoding(head: bytes, *, whole: bool) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    if b"\x00" in head or any(head.startswith(magic) for magic, _ in _MAGIC):
        return ""
    try:
        # A character may be cut where the reading stopped.
        codecs.getincrementaldecoder("utf-8")().decode(head, final=whole)
    except UnicodeDecodeError:
        # Text of an older encoding has hardly any control characters, anything else many.
        controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
        return "latin-1" if controls * 100 < len(head) else ""
    return "utf-8"


def _binary_kind(head: bytes) -> str:
    kind = next((name for magic, name in _MAGIC if head.startswith(magic)), "binary data")
    size = pictures.size(head)
    return f"{kind}, {size[0]}×{size[1]} pixels" if size else kind


def _lines(text: str, *, whole: bool) -> list[str]:
    lines = text.splitlines()
    # The last line read may be cut, unless it is all there is.
    return lines if whole or len(lines) == 1 else lines[:-1]


def _text_kind(lines: list[str]) -> str:
    filled = [line for line in lines[:20] if line.strip()]
    if filled and filled[0].lstrip()[:1] in ("{", "["):
        return "JSON lines" if len(filled) > 1 and all(map(_is_json, filled)) else "JSON"
    for separator, name in _SEPARATORS:
        counts = {line.count(separator) for line in filled}
        if len(filled) > 1 and len(counts) == 1 and counts != {0}:
            return name
    return "text"


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _cut(lines: list[str], room: int) -> tuple[str, ...]:
    cut: list[str] = []
    for line in lines:
        shown = line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}… ({len(line):,} characters)"
        room -= len(shown)
        if room < 0:
            break
        cut.append(shown)
    return tuple(cut)
