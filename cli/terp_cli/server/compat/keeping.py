"""Sound that clients send: kept as files, which code can read where a model cannot hear."""

import base64
from collections.abc import AsyncIterator, Sequence

from terp_cli.server.compat.accumulating import Message
from terp_cli.server.tree import Tree


async def with_files(messages: Sequence[Message], files: Tree) -> list[Message]:
    """The messages with each sound in a file of the session, and the file named in its place.

    Raises:
        Refused: it cannot be written.
    """
    kept = []
    for message in messages:
        sound, named = _sound_in(message), message
        if sound:
            name = await _unused(files)
            await files.write(name, _once(sound))
            named = {**message, "type": "audio", "format": "path", "content": name}
        kept.append(named)
    return kept


def _sound_in(message: Message) -> bytes:
    content = message.get("content")
    if isinstance(content, bytes):
        return content
    if message.get("type") != "audio" or message.get("format") == "path" or not isinstance(content, str):
        return b""
    try:
        return base64.b64decode(content, validate=True)
    except ValueError:
        return b""


async def _unused(files: Tree) -> str:
    taken = {entry.path for entry in files.listed()[0]}
    number = 1
    while f"sound-{number}.wav" in taken:
        number += 1
    return f"sound-{number}.wav"


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
