"""Connections over ZeroMQ: the sockets to a kernel, and the base class of kernels that terp has started."""

import asyncio
import signal
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase

from terp.kernels.jupyter.channels import Connection, Message, Route, give_way, new_request, read
from terp.kernels.jupyter.ending import end_of
from terp.kernels.jupyter.launch import Launch
from terp.kernels.jupyter.rundir import RunDir
from terp.text.dataclasses import dataclass

_CHANNELS = ("shell", "iopub", "stdin", "control")
# Messages that wait here before further ones wait in the kernel. One has up to 500 000 characters.
_WAITING = 16


def new_context(*, keeps_unread: bool = False) -> zmq.asyncio.Context:
    """Return a ZeroMQ context whose sockets lose no message and reconnect quickly.

    A kernel that `keeps_unread` queues unread messages itself; any other drops them.
    """
    context = zmq.asyncio.Context()
    # With the default limit a busy reader loses output, even `idle` messages, of kernels that drop unread
    # messages (measured: 18 000 of 20 000). For others a high limit takes terp's memory (64 MB in a flood).
    context.rcvhwm = _WAITING if keeps_unread else 0
    context.linger = 0
    context.reconnect_ivl = 10
    return context


class Sockets:
    """The channels of a client, each with one reader task for the life of the kernel."""

    def __init__(self, client: AsyncKernelClient, route: Route) -> None:
        self._client = client
        client.start_channels(hb=False)
        self._readers = [
            asyncio.create_task(read(f"on {name}", self._receiver(name), route)) for name in _CHANNELS
        ]

    def send(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message through the socket that is also read.

        jupyter_client would send outside the event loop, which can consume the signal that a message has
        arrived: then nothing is ever received on that channel again.
        """
        self._socket(channel).send_multipart(self._client.session.serialize(message))

    async def close(self) -> None:
        """End the readers and close the channels."""
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        self._client.stop_channels()

    def _receiver(self, channel: str) -> Callable[[], Coroutine[Any, Any, tuple[str, Message]]]:
        socket, session = self._socket(channel), self._client.session

        async def receive() -> tuple[str, Message]:
            parts = await socket.recv_multipart()
            await give_way(sum(map(len, parts)))
            _, frames = session.feed_identities(parts)
            return channel, session.deserialize(frames)

        return receive

    def _socket(self, channel: str) -> zmq.asyncio.Socket:
        socket: zmq.asyncio.Socket = getattr(self._client, f"{channel}_channel").socket
        return socket


@dataclass(frozen=True)
class Pace:
    """Poll intervals in seconds, normally and while the end is awaited, and the time limit for the end."""

    poll_s: float
    quick_poll_s: float
    farewell_s: float


class Watch:
    """Polls the exit code of a process until there is one; `gone` then describes the end."""

    def __init__(
        self, poll: Callable[[], Awaitable[int | None]], gone: asyncio.Future[str], pace: Pace
    ) -> None:
        self._poll = poll
        self._gone = gone
        self._pace = pace
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start polling."""
        self._task = asyncio.create_task(self._ask())

    async def until_gone(self) -> None:
        """Wait for the end of the process, at most `farewell_s`."""
        deadline = time.monotonic() + self._pace.farewell_s
        while not await self._look() and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(self._pace.quick_poll_s)

    async def end(self) -> None:
        """Stop polling. Harmless when repeated."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _ask(self) -> None:
        while not await self._look():  # noqa: ASYNC110
            await asyncio.sleep(self._pace.poll_s)

    async def _look(self) -> bool:
        """Return True if the process is gone."""
        code = await self._poll()
        if code is not None and not self._gone.done():
            self._gone.set_result(end_of(code))
        return code is not None


class StartedKernel(Connection):
    """Implements most of `Connection` for a kernel that terp has started or had started, with a `manager`.

    Its connection file and its log are in a private directory.
    """

    def __init__(self, launch: Launch, pace: Pace) -> None:
        super().__init__()
        self._launch = launch
        self._dir = RunDir()
        self._context = new_context(keeps_unread=launch.keeps_unread)
        self._sockets: Sockets | None = None
        self._provisioner: KernelProvisionerBase | None = None
        self._last_words = ""
        self._watch = Watch(self._exit_code, self.gone, pace)

    @property
    def connection_file(self) -> str:
        """The file in the private directory; "" if there is none."""
        return str(self._dir.connection_file) if self._dir.connection_file.exists() else ""

    def send(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message."""
        assert self._sockets is not None
        self._sockets.send(channel, message)

    async def interrupt(self) -> None:
        """Interrupt the kernel: by SIGINT, or by an interrupt message if its kernel spec asks for one."""
        if self._launch.interrupt_by == "message":
            self.send("control", new_request("interrupt_request"))
        elif self._provisioner is not None:
            await self._provisioner.send_signal(signal.SIGINT)
        # A call that waits for the user returns, so that the code notices the signal.
        self._launch.effects.interrupt()

    async def _disconnect(self) -> None:
        """Request the kernel's end, kill it if it does not end, and remove its directory."""
        if self._sockets is not None and not self.gone.done():
            self.send("control", new_request("shutdown_request", {"restart": False}))
            await self._watch.until_gone()
        await self._end()
        await self._watch.end()
        if self._sockets is not None:
            await self._sockets.close()
        self._context.destroy(linger=0)
        self.last_words()
        self._dir.close()

    def last_words(self) -> str:
        """Return the end of the log."""
        self._last_words = self._last_words or self._dir.log_tail()
        return self._last_words

    def _quoted_log(self) -> str:
        words = self.last_words()
        return f" Its last words:\n{words}" if words else ""

    def _connect(self, manager: AsyncKernelManager, route: Route) -> None:
        client = manager.client(context=self._context)
        assert isinstance(client, AsyncKernelClient)
        self._sockets = Sockets(client, route)
        self._watch.begin()

    @abstractmethod
    async def _end(self) -> None:
        """Kill the kernel if it still runs, and remove what is left of it."""

    async def _exit_code(self) -> int | None:
        """Return the exit code, negative for a signal; None while the kernel runs."""
        assert self._provisioner is not None
        code: int | None = await self._provisioner.poll()
        return code
