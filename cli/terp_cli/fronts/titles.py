"""Keeps the window's title true while a talk goes on, and calls a person who is away."""

import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from terp_cli.terminal.guard import Guard, Unguarded
from terp_cli.terminal.hold import Hold
from terp_cli.terminal.ticking import ticking

if TYPE_CHECKING:
    from terp.events import Event
    from terp_cli.fronts.oneshot import Front
    from terp_cli.terminal.window import Means, Window

_TICK_S = 0.5


class Titles(Hold):
    """A window over time: what it has to write goes to `send`, and what undoes it to the guard."""

    def __init__(
        self,
        means: "Callable[[], Means]",
        send: Callable[[str], None],
        guard: Guard | Unguarded,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._means = means
        self._known: Window | None = None
        self._send = send
        self._guard = guard
        self._clock = clock

    @classmethod
    def none(cls) -> Self:
        """Where there is no window to write about."""
        from terp_cli.terminal.window import Means  # noqa: PLC0415  (see `_window`)

        return cls(Means, lambda _: None, Unguarded())

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """The title is terp's until the block is left."""
        self._write(self._window.opened())
        self._guard.taken(self._window.closed())
        try:
            with ticking(self._tick, _TICK_S):
                yield
        finally:
            self._write(self._window.closed())

    def saw(self, event: "Event") -> None:
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
        if self._known is None:
            # The first prompt is not there yet; what opens the window comes after it.
            self._guard.taken()
            return
        self._write(self._window.taken())
        self._guard.taken(self._window.closed())

    def given(self) -> None:
        """The shell or another program has the terminal now."""
        self._write(self._window.given())
        self._guard.given()

    def kept(self) -> None:
        """No keys are read, but the terminal is still in other modes than before."""
        self._guard.taken()

    def beside(self, front: "Front") -> "Front":
        """`front`, with the title kept for as long as it shows a turn."""
        return _Titled(front, self)

    @property
    def _window(self) -> "Window":
        if self._known is None:
            # There is a prompt before anything is known of the window.
            from terp_cli.terminal.window import Window  # noqa: PLC0415

            self._known = Window(self._means())
        return self._known

    @_window.setter
    def _window(self, window: "Window") -> None:
        self._known = window

    def _tick(self) -> None:
        self._window, sequence = self._window.passed(self._clock())
        self._write(sequence)

    def _write(self, sequence: str) -> None:
        if sequence:
            self._send(sequence)


class _Titled:
    def __init__(self, front: "Front", titles: Titles) -> None:
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
