"""Connections of clients that take without giving: no request comes, or what is sent is not read."""

import asyncio
import resource
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class Http(H11Protocol):
    """uvicorn's HTTP, but for who begins a request and does not go on: all of a head has `head_s`."""

    def __init__(self, *parts: Any, head_s: float, **named: Any) -> None:
        super().__init__(*parts, **named)
        self._head_s = head_s
        self._awaited: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Await the first head."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Take a piece; one that ends no head gives no more time for it."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_awaiting()
        elif self._awaited is None:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Await nothing any more."""
        self._stop_awaiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._awaited = self.loop.call_later(self._head_s, self.timeout_keep_alive_handler)

    def _stop_awaiting(self) -> None:
        if self._awaited is not None:
            self._awaited.cancel()
            self._awaited = None


class Frames(WebSocketsSansIOProtocol):
    """uvicorn's WebSockets, but for who reads nothing: what they send is not read either.

    Each ping is answered at once, so a client that pings and never reads would fill the memory.
    """

    def pause_writing(self) -> None:
        """Read no more while what was written waits."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        if not self.read_paused:
            self.transport.resume_reading()


def allow_descriptors(wanted: int) -> None:
    """Let this process have so many open files and sockets, as far as the system lets it say so itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
