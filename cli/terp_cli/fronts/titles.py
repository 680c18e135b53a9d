"""The window's title during a session, and notifications for a user who is away."""

import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from terp_cli.fronts.front_end import ticking
from terp_cli.terminal.guard import Guard, TerminalListener, Unguarded

if TYPE_CHECKING:
    from terp.events import Event
    from terp_cli.fronts.front_end import FrontEnd
    from terp_cli.terminal.window import TerminalWindow, WindowFeatures

_TICK_S = 0.5


class Titles(TerminalListener):
    """Writer of the window's title: passes its sequences to `send`, and those that undo them to the guard.

    `features` are asked for after the first prompt; None for an output without a window.
    """

    def __init__(
        self,
        features: Callable[[], "WindowFeatures"] | None,
        send: Callable[[str], None],
        guard: Guard | Unguarded,
        clock: Callable[[], float] = time.monotonic,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`report` gets each new state in words."""
        self._features = features
        self._known: TerminalWindow | None = None
        self._send = send
        self._guard = guard
        self._clock = clock
        self._report = report

    @classmethod
    def none(cls) -> Self:
        """Return titles for an output without a window."""
        return cls(None, lambda _: None, Unguarded())

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Show terp's title until the block is left."""
        self._report(self._window.state)
        self._write(self._window.opened())
        self._guard.taken(self._window.closed())
        try:
            with ticking(self._tick, _TICK_S):
                yield
        finally:
            self._write(self._window.closed())

    def saw(self, event: "Event") -> None:
        """Handle an event."""
        self._window, sequence = self._window.saw(event, self._clock())
        self._write(sequence)

    def typed(self) -> None:
        """Handle a key."""
        self._window = self._window.typed(self._clock())

    def focused(self, has_focus: bool) -> None:
        """Handle that the window got or lost the focus."""
        self._window = self._window.focused(has_focus)

    def taken(self) -> None:
        """Handle that terp reads keys (again)."""
        if self._known is None:
            # The sequence that opens the window comes after the first prompt.
            self._guard.taken()
            return
        self._write(self._window.taken())
        self._guard.taken(self._window.closed())

    def given(self) -> None:
        """Handle that the shell or another program uses the terminal."""
        self._write(self._window.given())
        self._guard.given()

    def kept(self) -> None:
        """Handle that no keys are read, while the terminal still has changed modes."""
        self._guard.taken()

    def beside(self, front: "FrontEnd") -> "FrontEnd":
        """Return `front` wrapped: terp's title is shown while it shows a turn."""
        return _Titled(front, self)

    @property
    def _window(self) -> "TerminalWindow":
        if self._known is None:
            # The first prompt is shown before this import.
            from terp_cli.terminal.window import TerminalWindow, WindowFeatures  # noqa: PLC0415

            self._known = TerminalWindow(self._features() if self._features else WindowFeatures())
        return self._known

    @_window.setter
    def _window(self, window: "TerminalWindow") -> None:
        if self._known is None or window.state != self._known.state:
            self._report(window.state)
        self._known = window

    def _tick(self) -> None:
        self._window, sequence = self._window.passed(self._clock())
        self._write(sequence)

    def _write(self, sequence: str) -> None:
        if sequence:
            self._send(sequence)


class _Titled:
    def __init__(self, front: "FrontEnd", titles: Titles) -> None:
        self._front = front
        self._titles = titles

    async def show(self, events: "AsyncIterable[Event]") -> None:
        async with self._titles.shown():
            await self._front.show(self._seen(events))

    def finish(self, events: "Sequence[Event]", collected: Sequence[Path]) -> None:
        self._front.finish(events, collected)

    async def _seen(self, events: "AsyncIterable[Event]") -> "AsyncIterator[Event]":
        async for event in events:
            self._titles.saw(event)
            yield event
