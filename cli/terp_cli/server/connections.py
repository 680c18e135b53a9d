"""Limits for clients that send no request, or do not read responses."""

import asyncio
import logging
import resource
from typing import Any

import h11
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import DATA_OPCODES, Frame
from websockets.http11 import Request
from websockets.server import ServerProtocol

from terp.text.dataclasses import dataclass

_KNOWN = "terp.known"


class Http(H11Protocol):
    """uvicorn's HTTP protocol with a time limit of `head_s` for the whole request head."""

    def __init__(self, *parts: Any, head_s: float, **named: Any) -> None:
        super().__init__(*parts, **named)
        self._head_s = head_s
        self._awaited: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Await the first head."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Handle received bytes; an incomplete request head does not extend its time limit."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_awaiting()
        elif self._awaited is None:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting for a head."""
        self._stop_awaiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._awaited = self.loop.call_later(self._head_s, self.timeout_keep_alive_handler)

    def _stop_awaiting(self) -> None:
        if self._awaited is not None:
            self._awaited.cancel()
            self._awaited = None


class Greeted(ServerProtocol):
    """WebSocket rules with a smaller limit for the first message, which comes before authentication."""

    def __init__(self, first: int, most: int, log: logging.Logger) -> None:
        super().__init__(max_size=first, logger=log)
        self._most = most

    def take_more(self) -> None:
        """Raise the limit to that of all later messages."""
        self.max_message_size = self._most

    def recv_frame(self, frame: Frame) -> None:
        """Handle a frame; after the first message, raise the limit."""
        super().recv_frame(frame)
        if frame.fin and frame.opcode in DATA_OPCODES:
            self.take_more()


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """uvicorn's WebSockets, which stop reading from a client that does not read.

    Each ping is answered at once, so a client that pings and never reads would fill the memory. Until
    `known` is called, a message has at most `first` bytes.
    """

    def __init__(self, *parts: Any, first: int, **named: Any) -> None:
        super().__init__(*parts, **named)
        self._greeted = Greeted(first, self.config.ws_max_size, self.logger)
        self.conn = self._greeted

    def handle_connect(self, event: Request) -> None:
        """Serve it."""
        super().handle_connect(event)
        if not self.close_sent:
            # What serves it has not begun to.
            self.scope["extensions"][_KNOWN] = {"known": self._greeted.take_more}

    def pause_writing(self) -> None:
        """Stop reading until the written data has been sent."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Read again."""
        super().resume_writing()
        if not self.read_paused:
            self.transport.resume_reading()


def known(scope: Scope) -> None:
    """Raise the limit of the first message for an authenticated client."""
    extension = scope.get("extensions", {}).get(_KNOWN)
    if extension:
        extension["known"]()


def allow_descriptors(wanted: int) -> None:
    """Raise this process's limit of open files to `wanted`, within the system's hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class ServerLimits:
    """Sizes are in bytes, times in seconds.

    `sessions` may be open at a time, each with `queue` turns that wait and `watchers` that follow it.
    `memory` is the server's own memory above which it opens no more sessions (0: no limit). Kernels that did
    nothing for `idle_s` are closed (0: never). A question is
    answered with no once no client was connected for `patience_s`. `connections` limits those of all clients;
    `strangers` the WebSockets among them that have not sent the token yet. They have `greeting_s` for it, and
    at most `greeting` bytes in their first message. A connection is closed if for `stall_s` its request body
    brings no byte, or fewer than `slowest` a second, or if its client reads nothing for as long.
    """

    sessions: int = 100
    queue: int = 8
    watchers: int = 64
    memory: int = 2_000 * _MEGABYTE
    idle_s: float = 900.0
    patience_s: float = 120.0
    body: int = 4 * _MEGABYTE
    headers: int = 16_384
    upload: int = 2_000 * _MEGABYTE
    frame: int = 4 * _MEGABYTE
    greeting: int = 64_000
    connections: int = 2_000
    strangers: int = 128
    greeting_s: float = 5.0
    stall_s: float = 30.0
    slowest: int = 10_000
    keepalive_s: float = 15.0
    closing_s: float = 2.0
