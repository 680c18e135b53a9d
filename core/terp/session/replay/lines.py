"""What a run put out, as lines that can be compared: pictures by their size and hash."""

import base64
import binascii
import hashlib
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from terp.events.outputs import Display, Error, Omitted, Output, Text
from terp.text import pictures
from terp.text.plain import mended, settled

_PNG = b"\x89PNG\r\n\x1a\n"
# What a PNG says of itself besides its pixels: the version of a library, a date (PNG 1.2, 4.2.3).
_ABOUT = (b"tEXt", b"zTXt", b"iTXt", b"tIME", b"eXIf")
# Ids in matplotlib's SVG are random for each file, and so is its date.
_IN_SVG = re.compile(r"<metadata>.*?</metadata>|\b[a-z][0-9a-f]{10}\b", re.DOTALL)


def lines_of(outputs: Iterable[Output], as_kept: Callable[[str], str] = str) -> list[str]:
    """The lines of settled outputs in their order, those of stderr last: it is not in step with the rest.

    Of an error it is the last line, and of a display what plain text says of it, else its other types.
    `as_kept` gives a text as it would have been kept.
    """
    lines: list[str] = []
    aside: list[str] = []
    for output in outputs:
        match output:
            case Text(stream=stream, text=text):
                (aside if stream == "stderr" else lines).extend(_settled(as_kept(text)))
            case Display(data=data):
                lines += _display(data, as_kept)
            case Error(name=name, value=value):
                lines += _settled(as_kept(f"{name}: {value}"))
            case Omitted():
                lines.append("[… left out …]")
            case _:
                continue
    return [*lines, *aside]


def _settled(text: str) -> Iterator[str]:
    # What ends a line here ends it for the diff as well.
    return (settled(line).rstrip() for line in mended(text).removesuffix("\n").split("\n"))


def _display(data: Mapping[str, Any], as_kept: Callable[[str], str]) -> Iterator[str]:
    for mime, value in sorted(data.items()):
        if mime.startswith("image/"):
            yield _picture(mime, value)
    shown = data.get("text/plain")
    if isinstance(shown, str):
        yield from _settled(as_kept(shown))
    elif not any(mime.startswith("image/") for mime in data):
        yield from (
            f"[{mime} {_digest(as_kept(str(value)).encode('utf-8', 'replace'))}]"
            for mime, value in sorted(data.items())
        )


def _picture(mime: str, value: Any) -> str:
    if not isinstance(value, str):
        return f"[{mime}]"
    if mime.endswith("xml"):
        return f"[{mime} {_digest(_IN_SVG.sub('', value).encode('utf-8', 'replace'))}]"
    try:
        content = base64.b64decode(value)
    except (binascii.Error, ValueError):
        return f"[{mime} {_digest(value.encode('utf-8', 'replace'))}]"
    size = pictures.size(content)
    sized = f" {size[0]}×{size[1]}" if size else ""
    return f"[{mime}{sized} {_digest(b''.join(_pixels(content)))}]"


def _pixels(content: bytes) -> Iterator[bytes]:
    """A picture without what a PNG says about itself."""
    if not content.startswith(_PNG):
        yield content
        return
    at = len(_PNG)
    while at + 8 <= len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        end = at + length + 12
        if content[at + 4 : at + 8] not in _ABOUT:
            yield content[at:end]
        at = end


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
