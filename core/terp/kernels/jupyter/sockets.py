"""The sockets to a kernel of this machine: messages over ZeroMQ."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient

from terp.kernels.jupyter.channels import Message, give_way, read
from terp.kernels.jupyter.connection import Route

_CHANNELS = ("shell", "iopub", "stdin", "control")
# Messages that wait here before those after them wait in the kernel. One has up to 500 000 characters.
_WAITING = 16


def new_context(*, keeps_unread: bool = False) -> zmq.asyncio.Context:
    """A context whose sockets lose nothing and come back quickly.

    A kernel that `keeps_unread` has room for what is not read yet; any other drops it.
    """
    context = zmq.asyncio.Context()
    # With the default limit a busy reader loses output and even `idle` of other kernels (measured: 18 000
    # of 20 000 messages). What waits here of ours is terp's memory (measured: 64 MB in a flood).
    context.rcvhwm = _WAITING if keeps_unread else 0
    context.linger = 0
    context.reconnect_ivl = 10
    return context


class Sockets:
    """The channels of a client, each with one reader task for the life of the kernel."""

    def __init__(self, client: AsyncKernelClient, route: Route) -> None:
        self._client = client
        client.start_channels(hb=False)
        self._readers = [asyncio.create_task(read(name, self._receiver(name), route)) for name in _CHANNELS]

    def send(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message through the socket that is also read.

        jupyter_client would send past its event loop, which takes away the signal that a message has
        arrived: when both happen at once, nothing is received on that channel ever again.
        """
        self._socket(channel).send_multipart(self._client.session.serialize(message))

    async def close(self) -> None:
        """End the readers and close the channels."""
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        self._client.stop_channels()

    def _receiver(self, channel: str) -> Callable[[], Coroutine[Any, Any, Message]]:
        socket, session = self._socket(channel), self._client.session

        async def receive() -> Message:
            parts = await socket.recv_multipart()
            await give_way(sum(map(len, parts)))
            _, frames = session.feed_identities(parts)
            message: Message = session.deserialize(frames)
            return message

        return receive

    def _socket(self, channel: str) -> zmq.asyncio.Socket:
        socket: zmq.asyncio.Socket = getattr(self._client, f"{channel}_channel").socket
        return socket
