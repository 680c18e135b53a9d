"""The facts about a terminal beyond its environment, and the wait for its answers."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

Background = Literal["dark", "light", "unknown"]
# A local terminal answers in a millisecond, one behind ssh in a round trip.
_TIMEOUT_S = 0.15


@dataclass(frozen=True, slots=True)
class TerminalFacts:
    """The abilities and the look of a terminal. Sizes of a cell are in pixels, 0 where unknown.

    `complete`: the terminal has answered the last query.
    """

    kitty: bool = False
    sixel: bool = False
    synchronised: bool = False
    background: Background = "unknown"
    cell_width: int = 0
    cell_height: int = 0
    complete: bool = field(default=False, compare=False)


class PendingFacts:
    """The facts known so far, and the wait for the rest of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.facts = TerminalFacts()
        self._clock = clock
        self._until = clock()
        self._answered = asyncio.Event()

    def begin(self) -> None:
        """Start the wait: the queries were sent."""
        self._until = self._clock() + _TIMEOUT_S
        self._answered.clear()

    def learn(self, facts: TerminalFacts) -> None:
        """Store facts from the terminal's answers; end the wait if they are complete."""
        self.facts = facts
        if facts.complete:
            self._answered.set()

    async def settled(self) -> None:
        """Wait for all answers, at most 150 ms from the queries on; not at all if none were sent."""
        left = self._until - self._clock()
        if left > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._answered.wait(), left)
