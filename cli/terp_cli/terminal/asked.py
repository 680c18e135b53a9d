"""What a terminal was asked about itself, and how long its answer is waited for."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from terp_cli.terminal.terminal_facts import TerminalFacts

# A terminal of this machine answers in a millisecond, one behind ssh in a round trip.
_PATIENCE_S = 0.15


class Asked:
    """The facts so far, and when there will be no more of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.facts = TerminalFacts()
        self._clock = clock
        self._until = clock()
        self._answered = asyncio.Event()

    def begin(self) -> None:
        """The terminal is asked now."""
        self._until = self._clock() + _PATIENCE_S
        self._answered.clear()

    def learn(self, facts: TerminalFacts) -> None:
        """The terminal has told what it can do, or some of it."""
        self.facts = facts
        if facts.complete:
            self._answered.set()

    async def settled(self) -> None:
        """Return when all answers are there, or 150 ms after the question; at once where there was none."""
        left = self._until - self._clock()
        if left > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._answered.wait(), left)
