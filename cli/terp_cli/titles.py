"""Keeps the window's title true while a talk goes on, and calls a person who is away."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Self

from terp.events import Event
from terp_cli.guard import Guard, Unguarded
from terp_cli.hold import Hold
from terp_cli.window import Means, Window

_TICK_S = 0.5


class Titles(Hold):
    """A window over time: what it has to write goes to `send`, and what undoes it to the guard."""

    def __init__(
        self,
        means: Means,
        send: Callable[[str], None],
        guard: Guard | Unguarded,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._window = Window(means)
        self._send = send
        self._guard = guard
        self._clock = clock

    @classmethod
    def none(cls) -> Self:
        """Where there is no window to write about."""
        return cls(Means(), lambda _: None, Unguarded())

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """The title is terp's until the block is left."""
        self._write(self._window.opened())
        ticker = asyncio.create_task(self._tick())
        try:
            yield
        finally:
            ticker.cancel()
            self._write(self._window.closed())

    def saw(self, event: Event) -> None:
        """An event happened."""
        self._window, sequence = self._window.saw(event, self._clock())
        self._write(sequence)

    def typed(self) -> None:
        """A key was pressed."""
        self._window = self._window.typed(self._clock())

    def focused(self, has_focus: bool) -> None:
        """The window got or lost the focus."""
        self._window = self._window.focused(has_focus)

    def taken(self) -> None:
        """Keys are read (again)."""
        self._write(self._window.taken())
        self._guard.taken(self._window.closed())

    def given(self) -> None:
        """The shell or another program has the terminal now."""
        self._write(self._window.given())
        self._guard.given()

    def kept(self) -> None:
        """No keys are read, but the terminal is still in other modes than before."""
        self._guard.taken()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK_S)
            self._window, sequence = self._window.passed(self._clock())
            self._write(sequence)

    def _write(self, sequence: str) -> None:
        if sequence:
            self._send(sequence)
