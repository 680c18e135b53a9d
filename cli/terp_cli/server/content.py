"""Files as responses: a whole file, a range of it, or an archive of all."""

import os
import re
import zipfile
from collections.abc import AsyncIterator, Iterator
from email.message import Message as Header
from io import RawIOBase
from typing import Any, Literal
from urllib.parse import quote

import anyio.to_thread
from fastapi.responses import StreamingResponse

from terp_cli.server.failures import RequestRefused
from terp_cli.server.tree import Tree

_PIECE = 256 * 1024
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# What code made is shown by nobody as a page of this server: a script in it would run as one of ours.
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "no-store",
}


def served_file(descriptor: int, name: str, wanted: str, media_type: str) -> StreamingResponse:
    """Return the response for an open file, or for the range in a `Range` header; it closes the file.

    Raises:
        Refused: the file has no such range.
    """
    try:
        size = os.fstat(descriptor).st_size
        begin, end = _span(wanted, size)
    except BaseException:
        os.close(descriptor)
        raise
    headers = {
        **SAFE,
        "Accept-Ranges": "bytes",
        "Content-Length": str(end - begin),
        "Content-Disposition": _as_attachment(name),
    }
    partial = (begin, end) != (0, size)
    if partial:
        headers["Content-Range"] = f"bytes {begin}-{end - 1}/{size}"
    return StreamingResponse(
        _pieces(descriptor, begin, end), 206 if partial else 200, headers=headers, media_type=media_type
    )


def served_archive(tree: Tree, name: str) -> StreamingResponse:
    """Return a response with all files of a directory as a zip archive, created while it is sent."""
    headers = {**SAFE, "Content-Disposition": _as_attachment(name)}
    return StreamingResponse(archived(tree), headers=headers, media_type="application/zip")


def archived(tree: Tree) -> Iterator[bytes]:
    """The bytes of a zip archive of the files in a directory."""
    made = _Made()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, descriptor in tree.walked():
            # Before 1980 the format has no time.
            member_info = zipfile.ZipInfo(entry.path, date_time=(1980, 1, 1, 0, 0, 0))
            member_info.compress_type = zipfile.ZIP_DEFLATED
            member_info.external_attr = 0o600 << 16
            with (
                os.fdopen(descriptor, "rb") as file,
                archive.open(member_info, "w", force_zip64=True) as member,
            ):
                while piece := file.read(_PIECE):
                    member.write(piece)
                    yield made.taken()
            yield made.taken()
    yield made.taken()


class _Made(RawIOBase):
    """Writable buffer; its content is taken out and sent on."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> Literal[True]:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        content = b"".join(self._parts)
        self._parts.clear()
        return content


async def _pieces(descriptor: int, begin: int, end: int) -> AsyncIterator[bytes]:
    try:
        while begin < end:
            piece = await anyio.to_thread.run_sync(os.pread, descriptor, min(_PIECE, end - begin), begin)
            if not piece:
                # It was cut meanwhile; the client sees that the length is not met.
                return
            begin += len(piece)
            yield piece
    finally:
        os.close(descriptor)


def _span(wanted: str, size: int) -> tuple[int, int]:
    """Return start and end of the requested range; ignore any header but a single byte range (RFC 9110)."""
    match = _RANGE.fullmatch(wanted.strip())
    if match is None or match.group(0) == "bytes=-":
        return 0, size
    first, last = match.groups()
    if not first:
        begin, end = max(0, size - int(last)), size
    else:
        begin, end = int(first), min(size, int(last) + 1) if last else size
    if begin >= end:
        raise RequestRefused(416, f"The file has {size:,} bytes.")
    return begin, end


def _as_attachment(name: str) -> str:
    header = Header()
    plain = _CONTROL.sub("_", name.encode("ascii", "replace").decode())
    header.add_header("Content-Disposition", "attachment", filename=plain)
    return f"{header['Content-Disposition']}; filename*=UTF-8''{quote(name, safe='')}"
