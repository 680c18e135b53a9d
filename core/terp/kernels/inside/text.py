"""Text: the standard streams, and the file descriptors below them."""

from __future__ import annotations

import codecs
import functools
import json
import os
import re
import select
import selectors
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from ipykernel.iostream import OutStream
from jupyter_client import jsonutil

from .home import Home

# A longer message would block the other end while it is decoded.
PIECE = 500_000
# Flushes per second that are sent one by one; further ones are sent in batches.
FLUSH_RATE = 300.0
# How often per second a write checks for output through the file descriptors; a thousand checks may come at
# once.
DRAIN_RATE, DRAIN_BURST = 20_000.0, 1_000.0


# An Enterprise Gateway has a jupyter_client before 7, under the older name.
_JSON_DEFAULT = getattr(jsonutil, "json_default", None) or getattr(jsonutil, "date_default", None)
SURROGATE = re.compile(r"[\ud800-\udfff]")


def packing(pack: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """Wrap `pack` to escape lone surrogates, which UTF-8 cannot encode.

    Without it, an error with such a text is never sent.
    """

    def packed(message: Any) -> bytes:
        try:
            return pack(message)
        except UnicodeEncodeError:
            text = json.dumps(message, default=_JSON_DEFAULT, ensure_ascii=False)
            return SURROGATE.sub(lambda half: f"\\\\u{ord(half[0]):04x}", text).encode()

    return packed


class Write:
    """The attribute `write` of the streams, which IPython cannot replace.

    IPython 9 sets a function there for every cell, which keeps a copy of all output, and restores the old one
    afterwards. A function that other code sets there is used.
    """

    def __get__(self, stream: Any, owner: Any) -> Any:
        return self if stream is None else stream.__dict__.get("write") or stream.put

    def __set__(self, stream: Any, function: Any) -> None:
        by_ipython = "_tee." in getattr(function, "__qualname__", "")
        if not by_ipython and getattr(function, "__func__", None) is not OutStream.write:
            stream.__dict__["write"] = function


class CellStream(OutStream):
    """Standard output or error: bounded per cell, in order, and cheap to flush.

    It replaces the class of the kernel's own streams, so that existing references to them (of a logging
    handler, say) still work.
    """

    home: Home
    pipes: Pipes
    other: CellStream
    number: int
    flush_interval = 0.05
    write = Write()

    def prepare(self, home: Home, pipes: Pipes, other: CellStream, number: int) -> None:
        """Complete an object whose class was replaced."""
        self.__dict__.pop("write", None)
        self.home, self.pipes, self.other, self.number = home, pipes, other, number
        self.header: Any = None
        self.key: Any = frozenset()
        # Generations of the buffer: written to, taken out, and handed to the socket.
        self.written = self.taken = self.sent = 0
        self.drained = self.refilled = self.scheduled = 0.0
        self.tokens = FLUSH_RATE
        self.drains = DRAIN_BURST

    @property
    def parent_header(self) -> Any:
        """The cell to which text written now, in this thread, belongs."""
        header = getattr(self.home.local, "header", None)
        if header is not None:
            return header
        try:
            return self._parent_header.get()
        except LookupError:
            return birth_of(threading.current_thread()) or self.home.header

    @parent_header.setter
    def parent_header(self, value: Any) -> None:
        self._parent_header.set(value)

    def fileno(self) -> int:
        """Return the file descriptor that children inherit; its output is shown."""
        return self.number

    def put(self, string: str) -> int:
        """Write text; count what exceeds the cell's limit."""
        if not isinstance(string, str):
            raise TypeError(f"write() argument must be str, not {type(string).__name__}")
        if os.getpid() != self.home.pid:
            if getattr(self.pub_thread, "_pipe_flag", True):
                OutStream.write(self, string)
            else:
                # Without network, forked processes have only the file descriptors.
                os.write(self.number, string.encode("utf-8", "surrogateescape"))
            return len(string)
        now = time.monotonic()
        self.drains = min(DRAIN_BURST, self.drains + (now - self.drained) * DRAIN_RATE)
        self.drained = now
        if self.drains >= 1:
            self.drains -= 1
            self.pipes.drain()
        if self.other.waiting() and self.may_send():
            self.other.flush_now()
        if len(string) <= self.home.room:
            self.home.room -= len(string)
            fits = string
        else:
            fits, rest = string[: self.home.room], string[self.home.room :]
            self.home.room = 0
            self.home.drop(rest)
        if fits:
            self.keep(fits, now)
        return len(string)

    def keep(self, text: str, now: float) -> None:
        """Add text to the buffer, five times as fast as the base class does."""
        if not text.isascii():
            # A lone surrogate would make the whole message fail.
            text = text.encode("utf-8", "backslashreplace").decode()
        header = self.parent_header
        if header is not self.header:
            self.header, self.key = header, frozenset(header.items())
        with self._buffer_lock:
            self._buffers[self.key].write(text)
            self.written = self.taken + 1
        # An interrupt can prevent a pending flush.
        if not self._flush_pending or now - self.scheduled > 1.0:
            self._flush_pending = False
            self._schedule_flush()  # type: ignore[no-untyped-call]
            self.scheduled = now

    def waiting(self) -> bool:
        """Return True if text is buffered that a message sent now would overtake."""
        return self.sent != self.written

    def flush(self) -> None:
        """Send the written text; later if there are too many flushes to send one by one."""
        if os.getpid() != self.home.pid:
            super().flush()  # type: ignore[no-untyped-call]
        elif self.waiting() and self.may_send():
            self.flush_now()

    def flush_now(self) -> None:
        """Send the written text now."""
        if self.waiting():
            super().flush()  # type: ignore[no-untyped-call]

    def may_send(self) -> bool:
        """Return True if the rate limit allows one more message."""
        now = time.monotonic()
        self.tokens = min(FLUSH_RATE, self.tokens + (now - self.refilled) * FLUSH_RATE)
        self.refilled = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def close(self) -> None:
        """Do nothing: the kernel keeps the descriptors to its end."""

    def _rotate_buffers(self) -> Any:
        with self._buffer_lock:
            self.taken = self.written
            return super()._rotate_buffers()  # type: ignore[no-untyped-call]

    def _flush(self) -> None:
        super()._flush()  # type: ignore[no-untyped-call]
        self.sent = self.taken

    def _flush_buffers(self) -> Iterator[tuple[Any, str]]:
        for parent, text in super()._flush_buffers():  # type: ignore[no-untyped-call]
            for start in range(0, len(text), PIECE):
                yield parent, text[start : start + PIECE]


class Parented:
    """Mixed into the kernel's display publisher: displays of a thread belong where its text does."""

    home: Home

    @property
    def parent_header(self) -> Any:
        """The cell to which a display made now, in this thread, belongs."""
        return self.home.streams[0].parent_header

    @parent_header.setter
    def parent_header(self, value: Any) -> None:
        self._parent_header.set(value)  # type: ignore[attr-defined]


class Pipes(threading.Thread):
    """File descriptors 1 and 2, to which C code and child processes write.

    After a cell with child processes the next cell gets new pipes: a child that inherited an older pipe still
    writes for its own cell.
    """

    def __init__(self, home: Home) -> None:
        super().__init__(name="terp-pipes", daemon=True)
        self.home = home
        self.lock = threading.RLock()
        self.selector = selectors.DefaultSelector()
        # A poll takes a seventh of the time of a read that finds nothing.
        self.poll = select.poll()
        self.current: list[selectors.SelectorKey] = []
        self.spawned = True

    def renew(self) -> None:
        """Make new pipes for a new cell, if a child may have inherited the old ones."""
        if not self.spawned:
            for key in self.current:
                key.data["header"] = self.home.header
            return
        self.spawned = False
        with self.lock:
            self.current = [
                self.redirect(number, stream) for number, stream in enumerate(self.home.streams, start=1)
            ]

    def redirect(self, number: int, stream: Any) -> selectors.SelectorKey:
        """Put a new pipe behind the file descriptor `number`."""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.dup2(writing, number)
        os.close(writing)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.poll.register(reading, select.POLLIN)
        data = {"stream": stream, "header": self.home.header, "decoder": decoder}
        return self.selector.register(reading, selectors.EVENT_READ, data)

    def run(self) -> None:
        """Read until the process ends."""
        while True:
            for key, _ in self.selector.select():
                with self.lock:
                    self.pump(key)

    def drain(self) -> None:
        """Read what is in the current pipes now, so that later text comes after it."""
        if getattr(self.home.local, "header", None) is None:
            with self.lock:
                if self.poll.poll(0):
                    for key in list(self.current):
                        self.pump(key)

    def drain_all(self) -> None:
        """Read as `drain` does, until the pipes are empty; stop if a child writes without pause."""
        with self.lock:
            for key in list(self.current):
                for _ in range(256):
                    if not self.pump(key):
                        break

    def pump(self, key: selectors.SelectorKey) -> bool:
        """Move some data of a pipe to its stream, for the pipe's cell; return True if there was any."""
        try:
            data = os.read(key.fd, 1 << 16)
        except OSError:
            return False
        if not data:
            # All writers have closed it.
            self.selector.unregister(key.fd)
            self.poll.unregister(key.fd)
            os.close(key.fd)
            if key in self.current:
                self.current.remove(key)
            return False
        self.home.local.header = key.data["header"]
        try:
            key.data["stream"].write(key.data["decoder"].decode(data))
        finally:
            self.home.local.header = None
        return True


def birth_of(thread: threading.Thread) -> Any:
    """Return the cell that started a thread; None for threads of pools, which serve the current cell."""
    target = getattr(thread, "_terp_target", "")
    if target.startswith(("concurrent.", "multiprocessing.")):
        return None
    return getattr(thread, "_terp_header", None)


def mark_threads(home: Home) -> None:
    """Record in every new thread the cell that starts it."""
    start = threading.Thread.start

    @functools.wraps(start)
    def marking_start(thread: Any) -> None:
        thread._terp_header = home.streams[0].parent_header
        thread._terp_target = getattr(getattr(thread, "_target", None), "__module__", None) or ""
        start(thread)

    threading.Thread.start = marking_start  # type: ignore[assignment, method-assign]
