"""Facts about pictures read from their first bytes."""

import base64
import struct
from collections.abc import Mapping
from typing import Any

EXTENSIONS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_FILES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")


def size(data: bytes) -> tuple[int, int] | None:
    """Return width and height of a PNG, GIF or JPEG in pixels; None if unknown."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        width, height = struct.unpack("<HH", data[6:10])
        return width, height
    if data.startswith(b"\xff\xd8"):
        return _jpeg_size(data)
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        # SOF0 to SOF15 hold the size; C4, C8 and CC in that range are other tables (ITU T.81, B.1.1.3).
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None


def is_picture(mime: str) -> bool:
    """Return True if data of this type are the bytes of a picture."""
    return mime.startswith("image/") and not mime.endswith("xml")


def raster(bundle: Mapping[str, Any]) -> tuple[str, bytes] | None:
    """Return the MIME type and bytes of the picture in a Jupyter MIME bundle; None without one."""
    for mime in EXTENSIONS:
        if isinstance(encoded := bundle.get(mime), str):
            try:
                return mime, base64.b64decode(encoded, validate=False)
            except ValueError:
                return None
    return None


def saved_to(metadata: Mapping[str, Any]) -> str:
    """Return the path to which code saved the picture that it displays with `metadata`; "" for none."""
    own = metadata.get("terp")
    path = own.get("saved") if isinstance(own, Mapping) else ""
    return path if isinstance(path, str) and path.lower().endswith(_FILES) else ""
