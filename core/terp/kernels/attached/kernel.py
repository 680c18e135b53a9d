"""A connection to a kernel that another program started: its process, its heartbeat, its sockets."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient

from terp.errors import KernelStartFailed
from terp.kernels.attached.attachment import ConnectionFile, KernelAttachment
from terp.kernels.jupyter.channels import Connection, Message, Route, first_of, new_request
from terp.kernels.jupyter.sockets import Sockets, new_context

_BEAT_S = 1.0


async def beats(context: zmq.asyncio.Context, address: str, timeout_s: float) -> bool:
    """Return True if the heartbeat socket at `address` answers in time."""
    # A new socket each time: after a request without an answer it cannot send another.
    socket = context.socket(zmq.REQ)
    try:
        socket.connect(address)
        await socket.send(b"terp")
        return bool(await socket.poll(timeout_s * 1000))
    finally:
        socket.close(linger=0)


async def until_silent(context: zmq.asyncio.Context, address: str, patience_s: float) -> None:
    """Return when the heartbeat was silent for `patience_s` seconds."""
    while await beats(context, address, patience_s):  # noqa: ASYNC110 - no event marks a stopped heart
        await asyncio.sleep(_BEAT_S)


_HERE = ("127.", "localhost", "::1")


def owner_of(file: ConnectionFile) -> int:
    """Return the pid of the kernel, or 0.

    It is the process that listens at the kernel's address *and* owns the connection file: by its command
    line, or because the file is named after it. The end of a tunnel listens there too.
    """
    # A dependency of ipykernel, needed only for kernels of other programs.
    import psutil  # noqa: PLC0415

    if file.transport == "tcp" and not file.ip.startswith(_HERE):
        return 0
    for pid in _listening(file):
        try:
            arguments = psutil.Process(pid).cmdline()
            mine = psutil.Process(pid).uids().real == os.getuid()
        except psutil.Error:
            continue
        its_own = any(Path(file.path).name in argument for argument in arguments) or file.name == str(pid)
        if mine and its_own:
            return pid
    return 0


def lives(pid: int) -> bool:
    """Return True if a process runs; a zombie does not."""
    import psutil  # noqa: PLC0415  (see `owner_of`)

    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _listening(file: ConnectionFile) -> list[int]:
    """Return the processes that listen at the kernel's address."""
    import psutil  # noqa: PLC0415  (see `owner_of`)

    transport, _, address = file.address("shell").partition("://")
    try:
        sockets = psutil.net_connections("unix" if transport == "ipc" else "tcp")
    except psutil.Error:
        # macOS shows them only to root.
        return []
    wanted: object = address if transport == "ipc" else file.ports["shell"]
    return [
        one.pid
        for one in sockets
        if one.pid and wanted == (one.laddr if transport == "ipc" else getattr(one.laddr, "port", 0))
    ]


# Time limit for a heartbeat: the machine may have been asleep or overloaded.
_PATIENCE_S = 5.0
_FIRST_BEAT_S = 3.0
# The end of the process is noticed before its heartbeat is missed.
_POLL_S = 0.25


class AttachedKernel(Connection):
    """Implements `Connection` with sockets only: another program owns the kernel's life."""

    def __init__(self, attachment: KernelAttachment) -> None:
        super().__init__()
        self._attachment = attachment
        self._context = new_context()
        self._route: Route | None = None
        self._sockets: Sockets | None = None
        self._watch: asyncio.Task[None] | None = None
        self._owner = 0
        self._life = ""

    @property
    def connection_file(self) -> str:
        """The file that the kernel's own program wrote."""
        return self._attachment.file.path

    async def open(self, route: Route) -> None:
        """Connect to the kernel."""
        file = self._attachment.file
        if not await asyncio.to_thread(Path(file.path).exists):
            raise KernelStartFailed(
                f"{file.path} is gone: the kernel has ended.", "/attach NAME takes another one."
            )
        if not await beats(self._context, file.address("hb"), _FIRST_BEAT_S):
            raise KernelStartFailed(
                f"No kernel answers behind {file.path}.",
                "It has ended, or is out of reach; /attach NAME takes another one.",
            )
        self._owner = await asyncio.to_thread(owner_of, file)
        self._route = route
        client = AsyncKernelClient(context=self._context)
        client.load_connection_file(file.path)
        self._sockets = Sockets(client, self._received)
        self._watch = asyncio.create_task(self._until_dead(file.address("hb")))

    def send(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message."""
        assert self._sockets is not None
        self._sockets.send(channel, message)

    async def interrupt(self) -> None:
        """Send SIGINT if the process is known, else the message, which not every kernel supports."""
        if self._attachment.interrupt_by == "message" or not self._owner:
            self.send("control", new_request("interrupt_request"))
            return
        try:
            # Jupyter starts each kernel in a new process group, which also has the children of the code.
            leads = os.getpgid(self._owner) == self._owner
            os.kill(-self._owner if leads else self._owner, signal.SIGINT)
        except OSError:
            # It has ended, which the watch reports.
            return

    async def kill(self) -> None:
        """Disconnect from the kernel, which terp must not end."""
        self._ended("The kernel is another program's and was left running, with its code.")

    async def _disconnect(self) -> None:
        await self.kill()
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})
        if self._sockets is not None:
            await self._sockets.close()
        self._context.destroy(linger=0)

    def not_up(self, seconds: float) -> KernelStartFailed:
        """Return the error for a kernel that did not answer."""
        file = self._attachment.file
        if self.gone.done():
            return KernelStartFailed(self.gone.result(), "/attach NAME takes another one.")
        return KernelStartFailed(
            f"The kernel of {file.title} has not answered for {seconds:.0f} s: it runs other code.",
            f"Try again when that is over. If it is idle, the key in {file.path} is wrong.",
        )

    def _received(self, channel: str, message: Message) -> None:
        """Route a message; detect in it that another program has ended or restarted the kernel."""
        kind, content = message["msg_type"], message["content"]
        if kind == "shutdown_reply" and channel == "iopub":
            verb = "restarted" if content.get("restart") else "ended"
            self._ended(f"The kernel was {verb} by somebody else.")
        elif self._is_another(message):
            self._ended("The kernel was restarted by somebody else.")
        if self._route is not None:
            self._route(channel, message)

    def _is_another(self, message: Message) -> bool:
        """Return True if a message is from another life of the kernel than those before."""
        session = str(message["header"].get("session") or "")
        before, self._life = self._life, self._life or session
        # An ipykernel keeps the id of its session to its end; others may send ours back, or a new one.
        differs = self._attachment.takes_guests and session != self._life
        return bool(before) and (differs or message["content"].get("execution_state") == "starting")

    async def _until_dead(self, address: str) -> None:
        silent = asyncio.create_task(until_silent(self._context, address, _PATIENCE_S))
        try:
            while not silent.done():
                await first_of(silent, timeout_s=_POLL_S)
                if self._owner and not lives(self._owner):
                    self._ended("The kernel has ended.")
                    return
            self._ended("The kernel does not answer any more: it has ended, or is out of reach.")
        finally:
            silent.cancel()
