"""The session's log of events: numbered, append-only, read by any number of watchers."""

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol

from terp.events import CodeDelta, Event, ReasoningDelta, TextDelta, TurnStarted
from terp.text.dataclasses import dataclass


def _now() -> float:
    """Return the time in whole microseconds, the precision of stored records."""
    return time.time_ns() // 1000 / 1e6


@dataclass(frozen=True, slots=True)
class Record:
    """An event with its number, counted from 1, and its time in seconds since the epoch."""

    number: int
    time: float
    event: Event


class Notifier:
    """Wakes all tasks that wait for a change; each then looks for itself what has changed."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    def notify(self) -> None:
        """Wake every task that waits."""
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self) -> None:
        """Return after the next `notify`."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            # Without another `notify` the list would hold the future for ever.
            with suppress(ValueError):
                self._waiting.remove(future)
            raise


class EarlierLog(Protocol):
    """The records of a session that are not in memory."""

    @property
    def last(self) -> int:
        """The number of the last record."""

    @property
    def records(self) -> Sequence[Record]:
        """All records that were kept, in order, read at each access. Their numbers have gaps."""


IN_MEMORY = 10_000
"""Records that stay in memory, where the store can read older ones: about 5 MB."""


def is_delta(event: Event) -> bool:
    """Return True for a piece of a reply, about one for each token; a value that terp filled in is none."""
    if isinstance(event, TextDelta):
        return not event.reference
    return isinstance(event, ReasoningDelta | CodeDelta)


class EventLog:
    """Every event of a session in order.

    A reader holds a number, not a queue: a slow reader re-reads the log and delays nobody. `keep` is
    called with each record before any reader sees it; `earlier` holds the records of earlier processes.
    `stored` returns the records up to a number as they were kept: at the start of a turn, all but the last
    `in_memory` records leave memory, and are read again when a reader needs them.
    """

    def __init__(
        self,
        clock: Callable[[], float] = _now,
        *,
        earlier: EarlierLog | None = None,
        keep: Callable[[Record], None] | None = None,
        stored: Callable[[int], EarlierLog | None] = lambda _: None,
        in_memory: int = IN_MEMORY,
    ) -> None:
        self._clock = clock
        self._earlier = earlier
        self._keep = keep
        self._stored = stored
        self._in_memory = in_memory
        self.resumed_at = self.before = earlier.last if earlier else 0
        """Number of the last record of earlier processes, and of the last one that is not in memory."""
        self._read_again: Sequence[Record] | None = None
        # Where the last turn began; code that comes before any turn belongs to what was resumed.
        self.turn_at = self.resumed_at
        self._records: list[Record] = []
        self._changed = Notifier()
        self._changed_except_deltas = Notifier()
        self._closed = False

    @property
    def last(self) -> int:
        """The number of the newest record; 0 while the log is empty."""
        return self.before + len(self._records)

    def append(self, event: Event) -> Record:
        """Number and time `event`, keep it, and wake the readers that wait; return the record."""
        record = Record(self.last + 1, self._clock(), event)
        self._records.append(record)
        if self._keep is not None:
            self._keep(record)
        if isinstance(event, TurnStarted):
            self.turn_at = record.number
            self._read_again = None
            if len(self._records) > 2 * self._in_memory:
                self._forget()
        self._changed.notify()
        if not is_delta(event):
            self._changed_except_deltas.notify()
        return record

    def since(self, number: int) -> Sequence[Record]:
        """Return the records after `number`, oldest first."""
        if number >= self.before or self._earlier is None:
            return self._records[number - self.before :]
        # Kept for this turn: a reader may ask page by page.
        records = self._read_again = self._read_again or self._earlier.records
        at = bisect_right(records, number, key=lambda record: record.number)
        return [*records[at:], *self._records]

    def _forget(self) -> None:
        """Drop the records before the last `in_memory`, as far as whole turns."""
        most = len(self._records) - self._in_memory
        starts = (at for at in range(most, 0, -1) if isinstance(self._records[at].event, TurnStarted))
        at = next(starts, 0)
        earlier = self._stored(self.before + at) if at else None
        if earlier is not None:
            self._earlier, self.before = earlier, self.before + at
            del self._records[:at]

    def wake(self) -> None:
        """Wake all tasks that wait for a change, without a new record."""
        self._changed.notify()
        self._changed_except_deltas.notify()

    def changed(self, *, deltas: bool = True) -> Awaitable[None]:
        """Return what to await for the next `append`, `wake` or `close`.

        Without `deltas`, an `append` of one does not count.
        """
        return (self._changed if deltas else self._changed_except_deltas).wait()

    async def follow(self, after: int = 0) -> AsyncGenerator[Record, None]:
        """Yield the records after `after`, and then each new one until the log is closed."""
        while True:
            for record in self.since(after):
                after = record.number
                yield record
            if self.last > after:
                continue
            if self._closed:
                return
            await self.changed()

    def close(self) -> None:
        """End every `follow` once it has caught up."""
        self._closed = True
        self.wake()
