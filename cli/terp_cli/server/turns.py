"""The turns of a served session: one runs, others wait."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from terp.events import Event
from terp.session.session import Session
from terp.text.dataclasses import dataclass, field
from terp_cli.server.failures import RequestRefused

Asking = Callable[[Session], AsyncGenerator[Event, None]]


@dataclass(slots=True)
class ServedTurn:
    """A requested turn.

    `ahead` is the number of turns before it. `began` is set to the number of the record after which its
    events come, `ended` to that of its last one; both to -1 if it never begins.
    """

    asking: Asking
    ahead: int = 0
    began: "asyncio.Future[int]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    ended: "asyncio.Future[int]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def end(self) -> int | None:
        """The value of `ended`; None while the turn waits or runs."""
        return self.ended.result() if self.ended.done() else None

    async def beginning(self) -> int:
        """Wait until `began` is set; return it."""
        # Who waits may leave: a future that is awaited bare would be cancelled with them.
        return await asyncio.shield(self.began)

    async def ending(self) -> int:
        """Wait until `ended` is set; return it."""
        return await asyncio.shield(self.ended)

    def drop(self) -> None:
        """Mark the turn as never begun, or as without an end."""
        for future in (self.began, self.ended):
            if not future.done():
                future.set_result(-1)


class Turns:
    """Runs turns one after the other, with or without subscribers. Calls `changed` at each begin and end.

    `count` is the number of turns that have begun, `current` the running one.
    """

    def __init__(self, session: Session, most_waiting: int, changed: Callable[[], None]) -> None:
        self.count = 0
        self.current: ServedTurn | None = None
        self._session = session
        # Clients read the log; the task that plays a turn would only drop them.
        session.yields_deltas = False
        self._most_waiting = most_waiting
        self._changed = changed
        self._waiting: deque[ServedTurn] = deque()
        self._playing: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Return True while a turn is running."""
        return self._playing is not None

    @property
    def waiting(self) -> int:
        """The number of turns that wait."""
        return len(self._waiting)

    def ask(self, asking: Asking) -> ServedTurn:
        """Queue a turn.

        Raises:
            RequestRefused: the limit of waiting turns is reached.
        """
        if len(self._waiting) >= self._most_waiting:
            raise RequestRefused(429, f"{self._most_waiting} turns of this session wait already.")
        turn = ServedTurn(asking, self.waiting + self.busy)
        self._waiting.append(turn)
        if self._playing is None:
            self._playing = asyncio.create_task(self._play())
            self._changed()
        return turn

    def drop(self, turn: ServedTurn) -> bool:
        """Remove a waiting turn; return False if it has begun."""
        if turn not in self._waiting:
            return False
        self._waiting.remove(turn)
        turn.drop()
        return True

    def drop_waiting(self) -> int:
        """Remove all waiting turns; return their number."""
        dropped = list(self._waiting)
        self._waiting.clear()
        for turn in dropped:
            turn.drop()
        return len(dropped)

    async def over(self) -> None:
        """Return when no turn runs any more; the running turn must have been interrupted."""
        self.drop_waiting()
        if self._playing is not None:
            await asyncio.wait({self._playing})

    async def _play(self) -> None:
        try:
            while self._waiting:
                await self._play_one(self._waiting.popleft())
        finally:
            self._playing = None
            self._changed()

    async def _play_one(self, turn: ServedTurn) -> None:
        # A task of the session that was there before the server may still run.
        await self._session.idle()
        self.count += 1
        self.current = turn
        turn.began.set_result(self._session.log.last)
        try:
            async with aclosing(turn.asking(self._session)) as events:
                async for _ in events:
                    pass
            turn.ended.set_result(self._session.log.last)
        finally:
            self.current = None
            turn.drop()
            # Who follows this turn alone sees that it is over.
            self._session.log.wake()
