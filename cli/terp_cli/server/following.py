"""Sending the events of a session to one client, which may be slow, without delaying the others.

A client stands at a record number: a slow client, or one that reconnects, reads the log from there.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from functools import partial

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from terp_cli.server.sessions import Served
from terp_cli.server.transcript import WireEvent
from terp_cli.server.turns import ServedTurn


class Outgoing:
    """Sends messages, several at a time if needed. Run `watched` and `alive` concurrently with it.

    They use one timer for all messages: a timer for each would be expensive, as a message may be one token.
    """

    def __init__(self, send: Send, stall_s: float) -> None:
        self._send = send
        self._stall_s = stall_s
        self._now = asyncio.get_running_loop().time
        self._under_way: list[float] = []
        self._last = self._now()

    async def send(self, message: Message) -> None:
        """Send a message; return when the connection has room for more."""
        self._last = began = self._now()
        self._under_way.append(began)
        try:
            await self._send(message)
        finally:
            self._under_way.remove(began)

    async def watched(self) -> None:
        """Run until the client has not accepted a message for `stall_s`.

        Raises:
            OSError: at that time.
        """
        while True:
            oldest = self._under_way[0] if self._under_way else None
            since = self._now() if oldest is None else oldest
            await asyncio.sleep(since + self._stall_s - self._now())
            if oldest is not None and oldest in self._under_way:
                raise OSError("the client takes nothing")

    async def alive(self, every_s: float, keep_alive: Callable[[], Awaitable[None]]) -> None:
        """Call `keep_alive` whenever nothing was sent for `every_s`; run until cancelled."""
        while True:
            await asyncio.sleep(self._last + every_s - self._now())
            if self._now() >= self._last + every_s:
                await keep_alive()


async def until_one_ends(*doings: Coroutine[None, None, None]) -> None:
    """Run coroutines until the first ends, then cancel the others; cancelling this cancels all.

    Raises:
        Exception: that of a coroutine; of several, that of the first argument.
    """
    tasks = [asyncio.ensure_future(doing) for doing in doings]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    # Each is asked, or what another raised would be reported as never retrieved.
    errors = [error for task in tasks if not task.cancelled() and (error := task.exception())]
    if errors:
        raise errors[0]


async def batches(
    served: Served, after: int, turn: ServedTurn | None = None
) -> AsyncGenerator[Sequence[WireEvent], None]:
    """Yield the events after a number, then new ones, until the session is closed or the `turn` ends."""
    while True:
        end = turn.end if turn else None
        if end is not None and after >= end:
            return
        if served.transcript.last > after:
            batch = await served.transcript.since(after)
            after, end = batch.after, turn.end if turn else None
            events = batch.events if end is None else [one for one in batch.events if one.number <= end]
            if events:
                yield events
        elif served.closed:
            return
        else:
            # From the look at the end to here nothing else runs, so nothing can be missed.
            await served.session.log.changed()


_HEAD_START_S = 0.002
"""Seconds in which the request to the model leaves: a write wakes the client, which takes the processor."""


class EventStream(Response):
    """Server-sent events: each has its number as `id`, after which a client that reconnects continues."""

    media_type = "text/event-stream"

    def __init__(self, served: Served, after: int, turn: ServedTurn | None = None) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._served = served
        self._after = after
        self._turn = turn

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the stream ends, or the client has left."""
        await send_response(self._served, receive, send, self._send, keep_alive)

    async def _send(self, send: Send) -> None:
        if self._turn is not None and not self._turn.ahead:
            await asyncio.sleep(_HEAD_START_S)
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if self._turn is not None:
            self._after = await self._turn.beginning()
        await send(piece_of_body(b"retry: 1000\n\n"))
        if self._after >= 0:
            async with aclosing(batches(self._served, self._after, self._turn)) as following:
                async for events in following:
                    await send(piece_of_body(_written(events)))
        await send({"type": "http.response.body", "body": b""})


async def send_response(
    served: Served,
    receive: Receive,
    send: Send,
    sending: Callable[[Send], Coroutine[None, None, None]],
    waits: Callable[[Send], Awaitable[None]],
) -> None:
    """Run `sending` for a client that follows, until it ends or the client has left; `waits` in pauses.

    Raises:
        RequestRefused: too many clients follow.
        OSError: the client takes nothing.
    """
    with served.follows():
        outgoing = Outgoing(send, served.limits.stall_s)
        await until_one_ends(
            sending(outgoing.send),
            _gone(receive),
            outgoing.watched(),
            outgoing.alive(served.limits.keepalive_s, partial(waits, outgoing.send)),
        )


async def keep_alive(send: Send) -> None:
    """Send a comment, which clients of server-sent events ignore."""
    await send(piece_of_body(b": \n\n"))


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def piece_of_body(content: bytes) -> Message:
    """Return a piece of a response, which is not its last."""
    return {"type": "http.response.body", "body": content, "more_body": True}


def _written(batch: Sequence[WireEvent]) -> bytes:
    parts = []
    for event in batch:
        number = b"id: %d\n" % event.number if event.is_last else b""
        parts.append(b"%bevent: %b\ndata: %b\n\n" % (number, event.name.encode(), event.json))
    return b"".join(parts)
