"""The session's log of events: numbered, append-only, read by any number of watchers."""

import time
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from terp.events import Event, TurnStarted
from terp.events.bell import Bell


@dataclass(frozen=True, slots=True)
class Record:
    """An event with its number, counted from 1, and its time in seconds since the epoch."""

    number: int
    time: float
    event: Event


class Earlier(Protocol):
    """What was logged before the session was resumed; read when somebody asks for it."""

    @property
    def last(self) -> int:
        """The number of the last record."""

    @property
    def records(self) -> Sequence[Record]:
        """All records that were kept, in order. Their numbers have gaps."""


class EventLog:
    """Every event of a session in order.

    A watcher holds a number, not a queue: a slow one re-reads the log and holds nobody up. `keep` is
    given each record before anyone sees it; `earlier` is what came before this process.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        *,
        earlier: Earlier | None = None,
        keep: Callable[[Record], None] | None = None,
    ) -> None:
        self._clock = clock
        self._earlier = earlier
        self._keep = keep
        self.resumed_at = earlier.last if earlier else 0
        # Where the last turn began; code that comes before any turn belongs to what was resumed.
        self.turn_at = self.resumed_at
        self._records: list[Record] = []
        self._changed = Bell()
        self._closed = False

    @property
    def last(self) -> int:
        """The number of the newest record; 0 while the log is empty."""
        return self.resumed_at + len(self._records)

    def append(self, event: Event) -> Record:
        """Give `event` its number and time, keep it, and wake whoever waits for it."""
        record = Record(self.last + 1, self._clock(), event)
        self._records.append(record)
        if self._keep is not None:
            self._keep(record)
        if isinstance(event, TurnStarted):
            self.turn_at = record.number
        self.wake()
        return record

    def since(self, number: int) -> Sequence[Record]:
        """The records after `number`, oldest first."""
        if number >= self.resumed_at or self._earlier is None:
            return self._records[number - self.resumed_at :]
        records = self._earlier.records
        at = bisect_right(records, number, key=lambda record: record.number)
        return [*records[at:], *self._records]

    def wake(self) -> None:
        """Let everyone who waits look again."""
        self._changed.ring()

    async def changed(self) -> None:
        """Return after the next `append`, `wake` or `close`."""
        await self._changed.rung()

    async def follow(self, after: int = 0) -> AsyncGenerator[Record, None]:
        """The records after `after`, and then each new one until the log is closed."""
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
