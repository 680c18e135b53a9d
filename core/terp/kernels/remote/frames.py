"""Kernel messages as the websocket carries them: Jupyter's `v1` frames, and the JSON of older servers."""

import json
import struct
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from terp.kernels.jupyter.channels import Message

SUBPROTOCOL = "v1.kernel.websocket.jupyter.org"
"""The form of frames that terp asks for; a server that does not know it answers in the older one."""

_PARTS = ("header", "parent_header", "metadata", "content")


def frame_of(channel: str, message: Mapping[str, Any]) -> bytes:
    """A message as a `v1` frame: the number of offsets, the offsets, and the parts that they delimit."""
    parts = [channel.encode(), *(_packed(message[name]) for name in _PARTS)]
    count = len(parts) + 1
    offsets = [8 * (1 + count)]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return struct.pack(f"<{count + 1}Q", count, *offsets) + b"".join(parts)


def old_frame_of(channel: str, message: Mapping[str, Any]) -> str:
    """A message as JSON, for a server that speaks no `v1`."""
    return json.dumps({**{name: message[name] for name in _PARTS}, "channel": channel, "buffers": []})


def message_in(frame: bytes | str, *, v1: bool) -> tuple[str, Message]:
    """The channel of a frame, and the message that came on it. Binary buffers are left out.

    Raises:
        ValueError: it is no such frame.
    """
    if v1 and isinstance(frame, bytes):
        return _of_v1(frame)
    told = json.loads(_without_buffers(frame) if isinstance(frame, bytes) else frame)
    if not isinstance(told, dict) or not isinstance(told.get("channel"), str):
        raise ValueError("a frame without a channel")
    return told["channel"], _message([told.get(name) for name in _PARTS])


def _of_v1(frame: bytes) -> tuple[str, Message]:
    try:
        (count,) = struct.unpack_from("<Q", frame, 0)
        # As many offsets as there is room for at most.
        offsets = struct.unpack_from(f"<{min(count, len(frame) // 8)}Q", frame, 8)
    except struct.error as error:
        raise ValueError("a frame that is cut off") from error
    pieces = [frame[start:end] for start, end in pairwise(offsets)]
    if len(pieces) <= len(_PARTS):
        raise ValueError("a frame with too few parts")
    parts = [json.loads(piece) for piece in pieces[1 : 1 + len(_PARTS)]]
    return pieces[0].decode(), _message(parts)


def _message(parts: Sequence[Any]) -> Message:
    header, parent, metadata, content = (part if isinstance(part, dict) else {} for part in parts)
    if not isinstance(header.get("msg_type"), str):
        raise ValueError("a message without a type")
    return {
        "header": header,
        "msg_type": header["msg_type"],
        "parent_header": parent,
        "metadata": metadata,
        "content": content,
    }


def _without_buffers(frame: bytes) -> bytes:
    """The JSON in an older binary frame: a count, offsets of four bytes, JSON, buffers."""
    try:
        (count,) = struct.unpack_from("!I", frame, 0)
        start, *after = struct.unpack_from(f"!{min(count, len(frame) // 4)}I", frame, 4)
    except (struct.error, ValueError) as error:
        raise ValueError("a frame that is cut off") from error
    return frame[start : after[0] if after else None]


def _packed(part: Mapping[str, Any]) -> bytes:
    return json.dumps(part).encode()
