"""What one client has begun to say: frames of others do not come between."""

from collections.abc import Mapping, Sequence

from terp_cli.server.compat.accumulating import Frame, Misplaced

_LONGEST = 64_000_000
# What a frame takes besides its content: without it, any number of empty ones would count for nothing.
_EMPTY = 100


class Draft:
    """A message from its `start` to its `end`, which counts when it is whole; left, it is forgotten."""

    def __init__(self, longest: int = _LONGEST) -> None:
        self._longest = longest
        self._frames: list[Frame | bytes] = []
        self._type = ""
        self._size = 0

    @property
    def is_begun(self) -> bool:
        """Whether a message that will be answered is on its way."""
        return bool(self._frames) and self._type != "command"

    def taken(self, frame: Frame | bytes) -> Sequence[Frame | bytes]:
        """The frames that count now: none within a message, all at its end, one that belongs to none.

        Another `start` ends a message as well, and so does a command in a frame of its own.

        Raises:
            Misplaced: the message is too long; it is forgotten.
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
