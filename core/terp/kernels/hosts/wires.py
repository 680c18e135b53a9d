"""All the descriptors a host listens to, in one place: while a cell runs, and between the cells."""

import asyncio
import os
import selectors
from collections.abc import Callable

from terp.kernels.hosts.streams import BATCH_S, Printer, Source

# A child that never pauses must not keep a cell from ending.
_MOST_READS = 256


class Wires:
    """Calls back when a descriptor can be read.

    `wait` does so while a cell runs, which blocks the event loop; between cells the event loop does.
    What became readable first is called first, so that stdout and stderr keep their order where that can
    be told.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._sources: dict[int, Source] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._flushing = False

    def listen_between_cells(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let the event loop call back when no cell runs; once is enough."""
        if self._loop is None:
            self._loop = loop
            # The selector's own descriptor becomes readable with any of them (epoll and kqueue).
            loop.add_reader(self._selector.fileno(), self._between)

    def add(self, number: int, call: Callable[[], object]) -> None:
        """Call `call` whenever the descriptor `number` can be read."""
        self._selector.register(number, selectors.EVENT_READ, call)

    def remove(self, number: int) -> None:
        """Listen to the descriptor no more. It stays open. Harmless when repeated."""
        if number in self._selector.get_map():
            self._selector.unregister(number)

    def add_source(self, source: Source) -> None:
        """Read a pipe until nobody can write to it any more, and close it then."""
        self._sources[source.number] = source
        self.add(source.number, lambda: self._pump(source))

    def has_source(self, source: Source) -> bool:
        """Whether somebody may still write to the pipe."""
        return self._sources.get(source.number) is source

    def wait(self, timeout_s: float | None) -> bool:
        """Wait until something can be read, and read it; False when the time is up."""
        events = self._selector.select(timeout_s)
        for key, _ in events:
            # A call before it may have taken it away.
            if key.fd in self._selector.get_map():
                key.data()
        return bool(events)

    def drain(self, *sources: Source) -> None:
        """Read what is in these pipes now."""
        for source in sources:
            for _ in range(_MOST_READS):
                if not self.has_source(source) or not self._pump(source):
                    break

    def _pump(self, source: Source) -> bool:
        moved = source.pump()
        if moved is None:
            self.remove(source.number)
            del self._sources[source.number]
            os.close(source.number)
            source.printer.flush()
        return bool(moved)

    def flush_soon(self) -> bool:
        """Send what waits, for any cell, if there were not too many messages; whether any still waits."""
        printers: set[Printer] = {source.printer for source in self._sources.values()}
        still = [printer.flush_soon() for printer in printers]
        return any(still)

    def _between(self) -> None:
        self.wait(0)
        self._flush()

    def _flush(self) -> None:
        if self.flush_soon() and not self._flushing and self._loop is not None:
            self._flushing = True
            self._loop.call_later(BATCH_S, self._flush_later)

    def _flush_later(self) -> None:
        self._flushing = False
        self._flush()
