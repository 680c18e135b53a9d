"""A client that follows a session: it gets what there is, then what comes, and holds nobody up.

It holds a number, so that one that is slow, or comes again, reads the log from there.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from terp_cli.server.limits import ServerLimits
from terp_cli.server.outgoing import Outgoing
from terp_cli.server.served import Served
from terp_cli.server.side_by_side import until_one_ends
from terp_cli.server.transcript import Told
from terp_cli.server.turns import Turn

_NOTHING = b": \n\n"


async def batches(
    served: Served, after: int, turn: Turn | None = None
) -> AsyncGenerator[Sequence[Told], None]:
    """What was told after a number, then what is told: until the session is closed, or the `turn` is over."""
    while True:
        end = _end_of(turn)
        if end is not None and after >= end:
            return
        if served.transcript.last > after:
            batch = await served.transcript.since(after)
            after, end = batch.after, _end_of(turn)
            told = batch.told if end is None else [one for one in batch.told if one.number <= end]
            if told:
                yield told
        elif served.closed:
            return
        else:
            # From the look at the end to here nothing else runs, so nothing can be missed.
            await served.transcript.changed()


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
        outgoing = Outgoing(send, self._limits.stall_s)

        async def nothing() -> None:
            await outgoing.send(_body(_NOTHING))

        with self._served.follows():
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await until_one_ends(
                self._send(outgoing.send),
                gone(receive),
                outgoing.watched(),
                outgoing.alive(self._limits.keepalive_s, nothing),
            )

    async def _send(self, send: Send) -> None:
        if self._turn is not None:
            self._after = await self._turn.beginning()
        await send(_body(b"retry: 1000\n\n"))
        if self._after >= 0:
            async with aclosing(batches(self._served, self._after, self._turn)) as following:
                async for told in following:
                    await send(_body(_written(told)))
        await send({"type": "http.response.body", "body": b""})


async def gone(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _body(content: bytes) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": True}


def _written(batch: Sequence[Told]) -> bytes:
    parts = []
    for told in batch:
        number = b"id: %d\n" % told.number if told.is_last else b""
        parts.append(b"%bevent: %b\ndata: %b\n\n" % (number, told.name.encode(), told.json))
    return b"".join(parts)


def _end_of(turn: Turn | None) -> int | None:
    return turn.ended.result() if turn is not None and turn.ended.done() else None
