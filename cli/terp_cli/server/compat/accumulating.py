"""Frames joined to messages, and the unfinished messages (drafts) of one client."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

Frame = Mapping[str, Any]
Message = dict[str, Any]

NOTHING_BEGUN = "You must send a 'start: True' chunk first to create this message."
_OF_FRAMES = ("start", "end", "id")


class Misplaced(Exception):
    """A frame is out of order or malformed; the text gives the reason."""


def accumulate(messages: list[Message], chunk: Frame | str | bytes) -> None:
    """Add a frame to the messages: a new one, or more of the last.

    Content with the type and format of the last message is appended to it, whatever its role. A message
    started without a type takes that of its first content. A `str` is parsed as JSON.

    Raises:
        Misplaced: content came before any `start`, or it is no frame.
    """
    if isinstance(chunk, bytes):
        _add_bytes(messages, chunk)
        return
    frame = read_frame(chunk)
    if frame.get("format") == "active_line":
        return
    if "start" in frame:
        messages.append({**_kept(frame), "content": frame.get("content", "")})
    elif "content" in frame:
        _add(messages, frame)


def forget_oldest(messages: list[Message], most: int) -> None:
    """Remove the oldest messages until at most `most` characters are left."""
    size, gone = sum(map(_size, messages)), 0
    while size > most and gone < len(messages):
        size -= _size(messages[gone])
        gone += 1
    del messages[:gone]


def begins_message(messages: list[Message], frame: Frame) -> bool:
    """Return True if a frame's content would start a new message without a `start` frame."""
    return "start" not in frame and "content" in frame and not (messages and _continues(messages[-1], frame))


def read_frame(chunk: Frame | str) -> Frame:
    """Return the frame, parsed if it is JSON text.

    Raises:
        Misplaced: it is no frame.
    """
    if isinstance(chunk, str):
        try:
            chunk = json.loads(chunk)
        except (ValueError, RecursionError) as error:
            raise Misplaced(f"That is no JSON: {error}") from None
    if not isinstance(chunk, Mapping):
        raise Misplaced(f"A frame is a JSON object, not a {type(chunk).__name__}.")
    return chunk


def _add(messages: list[Message], frame: Frame) -> None:
    if not messages:
        raise Misplaced(NOTHING_BEGUN)
    last, content = messages[-1], frame["content"]
    if not _continues(last, frame):
        messages.append({"role": last.get("role", "user"), **_kept(frame), "content": content})
    elif last["content"] in ("", b""):
        kept = _kept(frame)
        kept.pop("role", None)
        last.update(kept, content=content)
    elif isinstance(last["content"], str) and isinstance(content, str):
        last["content"] += content
    else:
        messages.append({**last, "content": content})


def _continues(last: Message, frame: Frame) -> bool:
    if "type" not in last:
        return True
    # A message that has begun takes the format of its first content.
    same_format = last.get("format") == frame.get("format") or ("format" not in last and not last["content"])
    return bool(last["type"] == frame.get("type", last["type"]) and same_format)


def _add_bytes(messages: list[Message], chunk: bytes) -> None:
    if not messages:
        raise Misplaced(NOTHING_BEGUN)
    last = messages[-1]
    if last["content"] == "":
        last["content"] = b""
    if not isinstance(last["content"], bytes):
        raise Misplaced("Bytes came into a message of text.")
    last["content"] += chunk


def _size(message: Message) -> int:
    content = message.get("content", "")
    return len(content if isinstance(content, str | bytes) else str(content))


def _kept(frame: Frame) -> Message:
    return {name: value for name, value in frame.items() if name not in (*_OF_FRAMES, "content")}


_LONGEST = 64_000_000
# What a frame takes besides its content: without it, any number of empty ones would count for nothing.
_EMPTY = 100


class Draft:
    """A message being received, from `start` to `end`; dropped if the client leaves before the end."""

    def __init__(self, longest: int = _LONGEST) -> None:
        self._longest = longest
        self._frames: list[Frame | bytes] = []
        self._type = ""
        self._size = 0

    @property
    def is_begun(self) -> bool:
        """Return True while a message that will be answered is being received."""
        return bool(self._frames) and self._type != "command"

    def taken(self, frame: Frame | bytes) -> Sequence[Frame | bytes]:
        """Add a frame; return the frames that are now complete: none within a message, all at its end.

        Another `start` also ends a message, and so does a frame with a command.

        Raises:
            Misplaced: the message is too long; it is dropped.
        """
        begins, ends = _has(frame, "start"), _has(frame, "end")
        type_ = str(frame.get("type", self._type)) if isinstance(frame, Mapping) else self._type
        if begins:
            before = self._whole()
            self._add(frame, type_)
            return [*before, *self._whole()] if ends else before
        if not self._frames:
            return [frame]
        is_command = type_ == "command" != self._type
        self._add(frame, type_)
        return self._whole() if ends or is_command else []

    def _add(self, frame: Frame | bytes, type_: str) -> None:
        self._frames.append(frame)
        self._type = type_
        self._size += _EMPTY + len(frame if isinstance(frame, bytes) else str(frame.get("content", "")))
        if self._size > self._longest:
            self._whole()
            raise Misplaced(f"A message has {self._longest:,} characters at most, with 100 for each frame.")

    def _whole(self) -> list[Frame | bytes]:
        frames, self._frames, self._type, self._size = self._frames, [], "", 0
        return frames


def _has(frame: Frame | bytes, name: str) -> bool:
    return isinstance(frame, Mapping) and name in frame
