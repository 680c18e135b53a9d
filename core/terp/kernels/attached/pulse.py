"""The heartbeat of a kernel: a socket that sends back what it gets, whatever the code does meanwhile."""

import asyncio

import zmq
import zmq.asyncio

_BEAT_S = 1.0


async def beats(context: zmq.asyncio.Context, address: str, timeout_s: float) -> bool:
    """Whether the heart at `address` answers one beat in time."""
    # A socket that has waited for an answer in vain cannot ask again.
    socket = context.socket(zmq.REQ)
    try:
        socket.connect(address)
        await socket.send(b"terp")
        return bool(await socket.poll(timeout_s * 1000))
    finally:
        socket.close(linger=0)


async def until_silent(context: zmq.asyncio.Context, address: str, patience_s: float) -> None:
    """Return when the heart has been silent for so long."""
    while await beats(context, address, patience_s):  # noqa: ASYNC110 - nothing tells that a heart has stopped
        await asyncio.sleep(_BEAT_S)
