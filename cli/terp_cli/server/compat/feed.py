"""The frames of a conversation in order, for any number of clients; a lost connection loses no frame."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from terp.events.log import Notifier
from terp_cli.server.compat.accumulating import Frame

# Letters that are not taken for one another.
_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_LENGTH = 22
# What a frame takes besides its content.
_EMPTY = 100
# What waits for clients that may never come again, or never acknowledge anything.
_MOST_KEPT = 64_000_000


class FeedReader:
    """The position of one client. `took` moves it to the next frame."""

    def __init__(self, feed: "Feed", at: int) -> None:
        self.at = at
        self._feed = feed

    async def next(self) -> Frame:
        """Return the first frame that the client has not confirmed; wait for one."""
        while (frame := self._feed.frame(self.at)) is None:
            await self._feed.changed.wait()
        # Frames that waited too long are gone.
        self.at = max(self.at, self._feed.first)
        return frame

    def took(self) -> None:
        """Note that the client has this frame."""
        self.at += 1
        self._feed.forget()


class Feed:
    """The frames of a conversation; each has an id if clients `acknowledge` frames.

    A client that joins gets all later frames. It also gets the frames that a client left unconfirmed, and
    those that came while no client was connected: the newest, at most `most_kept` characters.
    """

    def __init__(self, *, acknowledged: bool, most_kept: int = _MOST_KEPT) -> None:
        self.acknowledged = acknowledged
        self.first = 0
        """The number of the oldest frame that is there."""
        self._frames: list[Frame] = []
        self._most_kept = most_kept
        self._size = 0
        self._readers: list[FeedReader] = []
        self._left: list[int] = []
        self.changed = Notifier()
        """Wakes those that wait for frames."""

    @property
    def last(self) -> int:
        """The number of frames so far, including those that were dropped."""
        return self.first + len(self._frames)

    @property
    def readers(self) -> int:
        """The number of current readers."""
        return len(self._readers)

    def add(self, frames: Iterable[Frame], *, keep: bool = True) -> None:
        """Add frames; without `keep` only for clients that are connected now."""
        if not (keep or self._readers):
            return
        if not (self._readers or self._left):
            self._left.append(self.last)
        for frame in frames:
            self._frames.append({**frame, "id": _new_id()} if self.acknowledged else frame)
            self._size += _size(frame)
        over, size = 0, self._size
        while size > self._most_kept:
            size -= _size(self._frames[over])
            over += 1
        self._drop(over)
        self.changed.notify()

    def begin(self) -> None:
        """Start another answer: clients that left during an earlier one do not get it again."""
        if self._readers:
            self._left.clear()
            self.forget()

    def frame(self, number: int) -> Frame | None:
        """Return the frame with this number, if it has come."""
        at = max(0, number - self.first)
        return self._frames[at] if at < len(self._frames) else None

    @property
    def unsent(self) -> Sequence[Frame]:
        """Return the frames that wait for the next clients."""
        return self.since(min(self._left, default=self.last))

    def since(self, number: int) -> Sequence[Frame]:
        """Return the frames from a number on."""
        return self._frames[max(0, number - self.first) :]

    def join(self) -> FeedReader:
        """Return a reader that stays until the process ends."""
        reader = FeedReader(self, self._next_start())
        self._readers.append(reader)
        return reader

    @contextmanager
    def joined(self) -> Iterator[FeedReader]:
        """Count a client as a reader during the block."""
        reader = self.join()
        try:
            yield reader
        finally:
            self._readers.remove(reader)
            if reader.at < self.last or not self._readers:
                self._left.append(reader.at)

    def forget(self) -> None:
        """Drop the frames that no client needs."""
        needed = min([*(reader.at for reader in self._readers), *self._left], default=self.last)
        self._drop(max(0, needed - self.first))

    def _drop(self, count: int) -> None:
        self._size -= sum(map(_size, self._frames[:count]))
        del self._frames[:count]
        self.first += count

    def _next_start(self) -> int:
        if not self._left:
            return self.last
        start = min(self._left)
        # Who comes again says no name. With names on the frames one too many does no harm, one too few would.
        self._left.remove(max(self._left) if self.acknowledged else start)
        return start


def _size(frame: Frame) -> int:
    return _EMPTY + len(str(frame.get("content", "")))


def _new_id() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
