"""The websocket to one kernel: Jupyter's frames, and a connection that reconnects when it drops."""

import asyncio
import contextlib
import json
import socket
import ssl
import struct
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.protocol import State
from websockets.typing import Subprotocol

from terp.errors import GatewayRefused, GatewayUnavailable, KernelStartFailed
from terp.kernels.jupyter.channels import Message, Route, give_way, read
from terp.kernels.remote.rest import refused, unreachable
from terp.settings.gateway import Gateway

SUBPROTOCOL = "v1.kernel.websocket.jupyter.org"
"""The subprotocol that terp requests; a server without it uses the older frames."""

_PARTS = ("header", "parent_header", "metadata", "content")


def frame_of(channel: str, message: Mapping[str, Any]) -> bytes:
    """Return a message as a `v1` frame: the number of offsets, the offsets, the parts that they delimit."""
    parts = [channel.encode(), *(json.dumps(message[name]).encode() for name in _PARTS)]
    count = len(parts) + 1
    offsets = [8 * (1 + count)]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return struct.pack(f"<{count + 1}Q", count, *offsets) + b"".join(parts)


def old_frame_of(channel: str, message: Mapping[str, Any]) -> str:
    """Return a message as JSON, for a server without `v1` frames."""
    return json.dumps({**{name: message[name] for name in _PARTS}, "channel": channel, "buffers": []})


def message_in(frame: bytes | str, *, v1: bool) -> tuple[str, Message]:
    """Return the channel and the message of a frame, without binary buffers.

    Raises:
        ValueError: it is no such frame.
    """
    if v1 and isinstance(frame, bytes):
        return _of_v1(frame)
    message = json.loads(_without_buffers(frame) if isinstance(frame, bytes) else frame)
    if not isinstance(message, dict) or not isinstance(message.get("channel"), str):
        raise ValueError("a frame without a channel")
    return message["channel"], _message([message.get(name) for name in _PARTS])


def _of_v1(frame: bytes) -> tuple[str, Message]:
    try:
        (count,) = struct.unpack_from("<Q", frame, 0)
        # As many offsets as there is room for at most.
        offsets = struct.unpack_from(f"<{min(count, len(frame) // 8)}Q", frame, 8)
    except struct.error as error:
        raise ValueError("a frame that is cut off") from error
    pieces = [frame[start:end] for start, end in pairwise(offsets)]
    if len(pieces) <= len(_PARTS):
        raise ValueError("a frame with too few parts")
    parts = [json.loads(piece) for piece in pieces[1 : 1 + len(_PARTS)]]
    return pieces[0].decode(), _message(parts)


def _message(parts: Sequence[Any]) -> Message:
    header, parent, metadata, content = (part if isinstance(part, dict) else {} for part in parts)
    if not isinstance(header.get("msg_type"), str):
        raise ValueError("a message without a type")
    return {
        "header": header,
        "msg_type": header["msg_type"],
        "parent_header": parent,
        "metadata": metadata,
        "content": content,
    }


def _without_buffers(frame: bytes) -> bytes:
    """Return the JSON in an older binary frame: a count, offsets of four bytes, JSON, buffers."""
    try:
        (count,) = struct.unpack_from("!I", frame, 0)
        start, *after = struct.unpack_from(f"!{min(count, len(frame) // 4)}I", frame, 4)
    except (struct.error, ValueError) as error:
        raise ValueError("a frame that is cut off") from error
    return frame[start : after[0] if after else None]


def acknowledge_at_once(transport: Any) -> None:
    """Turn off the delay of 40 ms with which Linux acknowledges received data.

    Servers of Jupyter wait for that before they send the next small message: a run takes 44 ms with the
    delay and 5 ms without. The option wears off, so it is set after everything that was received.
    """
    option = getattr(socket, "TCP_QUICKACK", None)
    wire = transport.get_extra_info("socket") if transport is not None else None
    if option is None or wire is None:
        return
    # A socket that is being closed takes no options, and one that is no TCP has none.
    with contextlib.suppress(OSError):
        wire.setsockopt(socket.IPPROTO_TCP, option, 1)


# A server accepts the connection only after the kernel has answered, for which it waits a minute.
_OPEN_S = 70.0
# Pings detect a dead connection that was not closed.
_PING_S = 20.0
# Intervals of reconnecting, and its time limit: a laptop may sleep.
_SHORTEST_S, _LONGEST_S, _PATIENCE_S = 0.1, 5.0, 600.0


class Wire:
    """Carries the messages of one kernel, and reconnects when the connection drops.

    `route` gets the messages. After reconnecting, messages that the gateway has kept arrive first: for that
    the session id stays the same. `back` is called with the seconds without a connection, `lost` with the
    error if reconnecting fails.
    """

    def __init__(
        self,
        gateway: Gateway,
        address: str,
        tls: ssl.SSLContext | None,
        *,
        route: Route,
        back: Callable[[float], None],
        lost: Callable[[KernelStartFailed], None],
    ) -> None:
        self._gateway = gateway
        self._address = address
        self._tls = tls
        self._route = route
        self._back = back
        self._lost = lost
        self._outbox: deque[tuple[str, dict[str, Any]]] = deque()
        self._filled = asyncio.Event()
        self._socket: ClientConnection | None = None
        self._life: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect for the first time.

        Raises:
            KernelStartFailed: the gateway refused the connection, or does not answer.
        """
        self._socket = await self._connected()
        self._life = asyncio.create_task(self._live(self._socket))

    def send(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message, now or after reconnecting."""
        self._outbox.append((channel, message))
        self._filled.set()

    async def close(self) -> None:
        """Close the connection. Harmless when repeated."""
        if self._life is not None:
            self._life.cancel()
            await asyncio.wait({self._life})
        if self._socket is not None:
            await self._socket.close()

    async def _live(self, socket: ClientConnection) -> None:
        while True:
            await self._serve(socket)
            dropped = time.monotonic()
            try:
                socket = self._socket = await self._reconnected(dropped)
            except KernelStartFailed as error:
                self._lost(error)
                return
            self._back(time.monotonic() - dropped)

    async def _serve(self, socket: ClientConnection) -> None:
        """Pass on messages until the connection breaks."""
        sending = asyncio.create_task(self._send_all(socket))
        try:
            with suppress(ConnectionClosed):
                await self._receive_all(socket)
        finally:
            sending.cancel()
            await asyncio.wait({sending})

    async def _receive_all(self, socket: ClientConnection) -> None:
        async def receive() -> tuple[str, Message]:
            frame = await socket.recv()
            acknowledge_at_once(socket.transport)
            await give_way(len(frame))
            return message_in(frame, v1=socket.subprotocol == SUBPROTOCOL)

        await read(f"of {self._gateway.host}", receive, self._route)

    async def _send_all(self, socket: ClientConnection) -> None:
        pack = frame_of if socket.subprotocol == SUBPROTOCOL else old_frame_of
        while socket.state is State.OPEN:
            if not self._outbox:
                self._filled.clear()
                await self._filled.wait()
                continue
            # Code must not run twice: a message that was passed to a connection is not sent again.
            message = self._outbox.popleft()
            with suppress(ConnectionClosed):
                await socket.send(pack(*message))

    async def _connected(self) -> ClientConnection:
        try:
            return await connect(
                self._address,
                additional_headers=dict(self._gateway.headers),
                subprotocols=[Subprotocol(SUBPROTOCOL)],
                ssl=self._tls,
                proxy=None if self._gateway.is_here else True,
                # One message may be a picture of any size.
                max_size=None,
                max_queue=1024,
                open_timeout=_OPEN_S,
                ping_interval=_PING_S,
                ping_timeout=_PING_S,
                close_timeout=1.0,
            )
        except InvalidStatus as error:
            answer = error.response
            raise refused(
                self._gateway, answer.status_code, answer.reason_phrase, answer.headers.get("Location", "")
            ) from error
        except (InvalidHandshake, OSError, TimeoutError) as error:
            raise unreachable(self._gateway, error) from error

    async def _reconnected(self, dropped: float) -> ClientConnection:
        """Try to connect again and again, until it succeeds or the time limit is over.

        Raises:
            KernelStartFailed: the gateway refuses the connection, or the time limit is over.
        """
        pause = _SHORTEST_S
        while True:
            try:
                return await self._connected()
            except GatewayRefused:
                raise
            except GatewayUnavailable:
                if time.monotonic() - dropped > _PATIENCE_S:
                    raise
            await asyncio.sleep(pause)
            pause = min(_LONGEST_S, pause * 2)
