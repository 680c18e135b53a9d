"""Output of programs: pipes that are read with one selector, and text sent as Jupyter's messages."""

import asyncio
import codecs
import os
import selectors
import time
from collections.abc import Callable, Mapping
from typing import Any

from terp.events.outputs import StreamName
from terp.kernels.jupyter.translation import REPORT

# Output limit of a cell, in characters; what exceeds it is counted.
ROOM = 64_000_000
# A longer message would block the other end while it is decoded.
PIECE = 500_000
# A longer value is truncated, as in a Python kernel: it is sent in one message.
LONGEST_VALUE = 4_000_000
# Messages per second that are sent at once; further ones are sent in batches.
RATE = 300.0
# Interval of the batches, in seconds.
BATCH_S = 0.05
_READ = 1 << 16

Send = Callable[[str, Mapping[str, Any]], None]
"""Sends a message on iopub: its type and its content."""


class Printer:
    """Sends the text of one cell: in order, in few messages, within limits.

    Output past `room` characters is counted, not sent; a report sends the count from time to time.
    """

    def __init__(self, send: Send, room: int = ROOM) -> None:
        self._send = send
        self._room = room
        self._waiting: list[tuple[StreamName, str]] = []
        self._size = 0
        self._tokens = RATE
        self._refilled = self._reported = time.monotonic()
        self._dropped = [0, 0]
        # Characters so far, and the last line: a question ends without a line break.
        self.written = 0
        self.last_line = ""

    def write(self, stream: StreamName, text: str) -> None:
        """Add text; `flush_soon` or `flush` sends it."""
        if not text:
            return
        self.written += len(text)
        self.last_line = (self.last_line + text[-1000:]).rpartition("\n")[2][-1000:]
        if len(text) > self._room:
            text, rest = text[: self._room], text[self._room :]
            self._drop(rest)
        self._room -= len(text)
        if text:
            self._waiting.append((stream, text))
            self._size += len(text)
        if self._size >= PIECE:
            self.flush()

    def flush_soon(self) -> bool:
        """Send waiting text unless there were too many messages; return True if text still waits."""
        if self._waiting and self._may_send():
            self.flush()
        return bool(self._waiting)

    def flush(self) -> None:
        """Send the waiting text."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        run: list[str] = []
        for at, (stream, text) in enumerate(waiting):
            run.append(text)
            if at + 1 == len(waiting) or waiting[at + 1][0] != stream:
                self._send_text(stream, "".join(run))
                run = []

    def result(self, text: str, number: int) -> None:
        """Send the value of cell `number`, truncated if too long."""
        self.flush()
        longest = min(self._room, LONGEST_VALUE)
        self._drop(text[longest:])
        text = text[:longest]
        self._room -= len(text)
        content = {"execution_count": number, "data": {"text/plain": text}, "metadata": {}}
        self._send("execute_result", content)

    def report(self, **facts: Any) -> None:
        """Report facts about the cell to the adapter; never shown."""
        self._send("display_data", {"data": {REPORT: facts}, "metadata": {}, "transient": {}})

    def finish(self) -> None:
        """Send the waiting text, and the count of dropped output."""
        self.flush()
        self._report_dropped()

    def _send_text(self, stream: StreamName, text: str) -> None:
        for start in range(0, len(text), PIECE):
            self._send("stream", {"name": stream, "text": text[start : start + PIECE]})

    def _may_send(self) -> bool:
        now = time.monotonic()
        self._tokens = min(RATE, self._tokens + (now - self._refilled) * RATE)
        self._refilled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def _drop(self, text: str) -> None:
        self._dropped[0] += len(text)
        self._dropped[1] += text.count("\n")
        if time.monotonic() - self._reported > 1.0:
            self.flush()
            self._report_dropped()

    def _report_dropped(self) -> None:
        self._reported = time.monotonic()
        dropped, self._dropped = self._dropped, [0, 0]
        if dropped[0]:
            self.report(omitted=dropped)


class OutputPipe:
    """The read end of a pipe to which a cell, and jobs that it left running, write one stream.

    `printer` is the cell's; it can be replaced if a pipe serves many cells.
    """

    def __init__(self, number: int, stream: StreamName, printer: Printer) -> None:
        os.set_blocking(number, False)
        self.number = number
        self.printer = printer
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def pump(self) -> bool | None:
        """Move some data of the pipe to the printer; return True if there was any, None at its end."""
        try:
            data = os.read(self.number, _READ)
        except BlockingIOError:
            return False
        self.printer.write(self._stream, self._decoder.decode(data, final=not data))
        return True if data else None


# Limit for a child that writes without pause, which must not keep a cell from ending.
_MOST_READS = 256


class Wires:
    """Watches file descriptors, and calls back when one can be read.

    `wait` does so while a cell runs, which blocks the event loop; between cells the event loop does. The
    descriptor that became readable first is read first, so that stdout and stderr keep their order if
    possible.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._sources: dict[int, OutputPipe] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._flushing = False

    def listen_between_cells(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have the event loop call back between cells. Only the first call counts."""
        if self._loop is None:
            self._loop = loop
            # The selector's own descriptor becomes readable with any of them (epoll and kqueue).
            loop.add_reader(self._selector.fileno(), self._between)

    def add(self, number: int, call: Callable[[], object]) -> None:
        """Call `call` whenever the descriptor `number` can be read."""
        self._selector.register(number, selectors.EVENT_READ, call)

    def remove(self, number: int) -> None:
        """Stop watching the descriptor, which stays open. Harmless when repeated."""
        if number in self._selector.get_map():
            self._selector.unregister(number)

    def add_source(self, source: OutputPipe) -> None:
        """Read a pipe until all writers have closed it, then close it."""
        self._sources[source.number] = source
        self.add(source.number, lambda: self._pump(source))

    def wait(self, timeout_s: float | None) -> bool:
        """Wait until something can be read, and read it; return False if the time is up."""
        events = self._selector.select(timeout_s)
        for key, _ in events:
            # An earlier call may have removed it.
            if key.fd in self._selector.get_map():
                key.data()
        return bool(events)

    def drain(self, *sources: OutputPipe) -> None:
        """Read the data that is in these pipes now."""
        for source in sources:
            for _ in range(_MOST_READS):
                # Another pipe may have its number once it is closed.
                if self._sources.get(source.number) is not source or not self._pump(source):
                    break

    def _pump(self, source: OutputPipe) -> bool:
        moved = source.pump()
        if moved is None:
            self.remove(source.number)
            del self._sources[source.number]
            os.close(source.number)
            source.printer.flush()
        return bool(moved)

    def flush_soon(self) -> bool:
        """Send waiting text of any cell, unless messages are too many; return True if text still waits."""
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
