"""What a run has put out and nobody has read yet, within limits."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

from terp.events.outputs import (
    Display,
    DisplayUpdate,
    Omitted,
    RunEnded,
    RunItem,
    StreamName,
    Text,
)
from terp.kernels.jupyter.translation import size_of


class _Pieces:
    """Text of one stream, in the pieces in which it came."""

    def __init__(self, stream: StreamName, text: str) -> None:
        self.stream = stream
        self.texts = [text]


class Backlog:
    """A queue of outputs that stays small when its reader is slow.

    Pieces of one stream are merged while they wait. Output past `total` characters of a run, or
    past `pending` unread ones, is counted and told as `Omitted` in its place; errors and all that
    is not output always pass.
    """

    def __init__(self, total: int, pending: int = 16_000_000) -> None:
        self._left = total
        self._room = pending
        self._queue: deque[RunItem | _Pieces] = deque()
        self._wake = asyncio.Event()

    def put(self, item: RunItem) -> None:
        """Add one item, as far as the limits allow."""
        match item:
            case Text() | Display() | DisplayUpdate():
                self._put_limited(item)
            case Omitted() if self._queue and isinstance(last := self._queue[-1], Omitted):
                self._queue[-1] = Omitted(
                    last.characters + item.characters, last.lines + item.lines, spooled=False
                )
            case _:
                self._queue.append(item)
        self._wake.set()

    async def items(self) -> AsyncGenerator[RunItem, None]:
        """The items in order, as they come, until `RunEnded`."""
        while True:
            while self._queue:
                item = self._take()
                yield item
                if isinstance(item, RunEnded):
                    return
            self._wake.clear()
            await self._wake.wait()

    def _put_limited(self, item: Text | Display | DisplayUpdate) -> None:
        size = size_of(item)
        # A display cannot be cut: with nothing before it, it may be as large as it likes.
        room = self._room if self._queue or isinstance(item, Text) else size
        fits = max(0, min(size, self._left, room))
        if isinstance(item, Text):
            self._put_text(item.stream, item.text[:fits])
            rest = item.text[fits:]
            lost, lines = len(rest), rest.count("\n")
        else:
            lost, lines = (0, 0) if fits == size else (size, 0)
            fits = size if fits == size else 0
            if fits or not size:
                self._queue.append(item)
        self._left -= fits
        self._room -= fits
        if lost:
            self.put(Omitted(lost, lines, spooled=False))

    def _put_text(self, stream: StreamName, text: str) -> None:
        if not text:
            return
        last = self._queue[-1] if self._queue else None
        if isinstance(last, _Pieces) and last.stream == stream:
            last.texts.append(text)
        else:
            self._queue.append(_Pieces(stream, text))

    def _take(self) -> RunItem:
        item = self._queue.popleft()
        taken = Text(item.stream, "".join(item.texts)) if isinstance(item, _Pieces) else item
        match taken:
            case Text() | Display() | DisplayUpdate():
                self._room += size_of(taken)
            case _:
                pass
        return taken
