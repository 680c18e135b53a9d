"""Guess the encoding of a file that could not be decoded, from its bytes."""

from __future__ import annotations

import os
import re
from typing import Any

# What functions call the file that they read.
FILES = ("filepath_or_buffer", "file", "path", "filename", "fname", "name", "f")
SAMPLE = 1 << 16
HIGH = re.compile(rb"[\x80-\xff]+")
EASTERN = ("shift_jis", "euc_jp", "euc_kr", "big5", "gb18030")
KANA = range(0x3040, 0x3100)


def looks_like(error: UnicodeDecodeError, frames: list[Any]) -> str:
    """A sentence that names the encoding; "" when the bytes look like none."""
    found = encoding_of(sample(frames) or bytes(error.object[:SAMPLE]))
    return f'The text looks like {found}: try encoding="{found}".' if found else ""


def sample(frames: list[Any]) -> bytes:
    """The beginning of the file that was read, if one of the frames names it."""
    for frame in frames:
        for name in FILES:
            value = frame.f_locals.get(name)
            path = value if isinstance(value, (str, os.PathLike)) else getattr(value, "name", None)
            if isinstance(path, (str, os.PathLike)) and os.path.isfile(path):  # noqa: PTH113
                with open(path, "rb") as file:  # noqa: PTH123
                    return file.read(SAMPLE)
    return b""


def encoding_of(data: bytes) -> str:
    """The encoding by a mark, by pairs of bytes as the scripts of East Asia have them, or of Western text."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    runs = HIGH.findall(data)
    if not runs or is_text(data, "utf-8"):
        return ""
    if max(map(len, runs)) < 4:
        return "cp1252" if is_text(data, "cp1252") else "latin-1"
    return next((name for name in EASTERN if is_text(data, name) and fits(data, name)), "")


def fits(data: bytes, name: str) -> bool:
    """Return True if bytes that decode in an East Asian encoding look like usual text in it."""
    high = [byte for byte in data if byte > 127]
    if name in ("shift_jis", "euc_jp"):
        return sum(ord(char) in KANA for char in data.decode(name, "ignore")) * 8 > len(high)
    if name == "euc_kr":
        # Hangul begin with these bytes; of Chinese characters a good half does not.
        return len(high) > 20 and all(0xB0 <= byte <= 0xC8 for byte in high[::2])
    return name != "big5" or not is_text(data, "gb2312")


def is_text(data: bytes, encoding: str) -> bool:
    """Return True if bytes decode in an encoding, except for a character truncated at their end."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return len(data) >= SAMPLE and error.start >= len(data) - 4
    return True
