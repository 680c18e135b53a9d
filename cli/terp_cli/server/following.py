"""A client that follows a session: it gets what there is, then what comes, and holds nobody up.

It holds a number, so that one that is slow, or comes again, reads the log from there.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from terp_cli.server.limits import ServerLimits
from terp_cli.server.served import Served
from terp_cli.server.transcript import Batch
from terp_cli.server.turns import Turn

_NOTHING = b": \n\n"


async def batches(
    served: Served, after: int, keepalive_s: float, turn: Turn | None = None
) -> AsyncGenerator[Batch, None]:
    """What was told after a number, then what is told, until the session is closed, or the `turn` has ended.

    An empty one says, now and then, that nothing has happened.
    """
    while True:
        batch = await served.transcript.since(after)
        # From here to the wait nothing else runs, so nothing can be missed.
        end = _end_of(turn)
        if batch.told or batch.after > after:
            after = batch.after
            yield _until(batch, end)
        elif served.closed or (end is not None and after >= end):
            return
        elif not await _changed_within(served, keepalive_s):
            yield Batch((), after)


async def _changed_within(served: Served, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await served.transcript.changed()
    except TimeoutError:
        return False
    return True


class EventStream(Response):
    """Server-sent events: each has its number as `id`, behind which a client that comes again goes on."""

    media_type = "text/event-stream"

    def __init__(self, served: Served, after: int, limits: ServerLimits, turn: Turn | None = None) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._served = served
        self._after = after
        self._limits = limits
        self._turn = turn

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until there is no more, or the client has left."""
        with self._served.follows():
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            sending = asyncio.ensure_future(self._send(send))
            leaving = asyncio.ensure_future(gone(receive))
            try:
                await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (sending, leaving):
                    task.cancel()
                await asyncio.wait({sending, leaving})
        if not sending.cancelled():
            sending.result()

    async def _send(self, send: Send) -> None:
        if self._turn is not None:
            self._after = await self._turn.began
        await in_time(send, _body(b"retry: 1000\n\n"), self._limits.stall_s)
        if self._after >= 0:
            async with aclosing(
                batches(self._served, self._after, self._limits.keepalive_s, self._turn)
            ) as following:
                async for batch in following:
                    await in_time(send, _body(_written(batch)), self._limits.stall_s)
        await send({"type": "http.response.body", "body": b""})


async def in_time(send: Callable[[Message], Awaitable[None]], message: Message, stall_s: float) -> None:
    """Send, unless the client takes nothing for so long.

    Raises:
        OSError: it did not.
    """
    try:
        async with asyncio.timeout(stall_s):
            await send(message)
    except TimeoutError:
        raise OSError("the client takes nothing") from None


async def gone(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _body(content: bytes) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": True}


def _written(batch: Batch) -> bytes:
    parts = []
    for told in batch.told:
        number = b"id: %d\n" % told.number if told.is_last else b""
        parts.append(b"%bevent: %b\ndata: %b\n\n" % (number, told.name.encode(), told.json))
    return b"".join(parts) or _NOTHING


def _end_of(turn: Turn | None) -> int | None:
    if turn is None or not turn.ended.done():
        return None
    with suppress(asyncio.CancelledError):
        return turn.ended.result()
    return None


def _until(batch: Batch, end: int | None) -> Batch:
    if end is None or batch.after <= end:
        return batch
    return Batch([told for told in batch.told if told.number <= end], end)
