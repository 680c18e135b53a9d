"""What code puts out, as the protocol has it: by type, format and content."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from terp.events.outputs import Clear, Display, DisplayUpdate, Error, InputRequest, Omitted, Output, Text
from terp.session.observation import plain_of
from terp.text.plain import without_escapes

_PICTURES = {"image/png": "base64.png", "image/jpeg": "base64.jpeg"}
_CODE = {"text/html": "html", "application/javascript": "javascript"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a message: more of the last one, where that has the same type and format."""

    type: str
    format: str
    content: str


def pieces_of(output: Output) -> Iterator[Piece]:
    """An output in pieces; none where there is nothing to show."""
    match output:
        case Text(text=text):
            yield printed(text)
        case Omitted(characters=characters):
            yield printed(f"[… {characters:,} more characters came and were not kept …]\n")
        case Display(data=data) | DisplayUpdate(data=data):
            yield _shown(data)
        case Error(name=name, value=value, traceback=traceback):
            told = without_escapes("\n".join(traceback)) or f"{name}: {value}"
            yield printed(told.rstrip("\n") + "\n")
        case InputRequest(prompt=prompt):
            yield printed(prompt)
        case Clear():
            # What was sent is with the client.
            pass
        case _:
            assert_never(output)


def printed(text: str) -> Piece:
    """Text of the console."""
    return Piece("console", "output", text)


def _shown(data: Mapping[str, Any]) -> Piece:
    for mime, format_ in _PICTURES.items():
        if isinstance(picture := data.get(mime), str):
            return Piece("image", format_, picture.replace("\n", ""))
    for mime, format_ in _CODE.items():
        if isinstance(text := data.get(mime), str):
            return Piece("code", format_, text)
    return printed(plain_of(data))
