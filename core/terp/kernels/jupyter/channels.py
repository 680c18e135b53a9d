"""Messages to and from a kernel: the connection that carries them, requests, and their recipients."""

import asyncio
import logging
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from typing import Any, Protocol

from terp.errors import KernelStartFailed
from terp.text.dataclasses import dataclass

Message = Mapping[str, Any]

# Bytes of a message from which on other tasks run before it is decoded.
_LARGE = 50_000

_log = logging.getLogger(__name__)


class Recipient(Protocol):
    """The sender of a request; receives every message that names the request as its parent."""

    def received(self, channel: str, message: Message) -> None:
        """Take one message of a channel; called in the order of that channel."""


class Dispatcher:
    """Passes messages to the senders of their requests.

    A message of no open request is passed to `unclaimed`, with the id of its parent.
    """

    def __init__(self, unclaimed: Callable[[str, str, Message], None]) -> None:
        self._open: dict[str, Recipient] = {}
        self._unclaimed = unclaimed

    def expect(self, message_id: str, recipient: Recipient) -> None:
        """Send the answers to the request `message_id` to `recipient` from now on."""
        self._open[message_id] = recipient

    def forget(self, message_id: str) -> None:
        """Close the request; later messages for it go to `unclaimed`."""
        self._open.pop(message_id, None)

    def route(self, channel: str, message: Message) -> None:
        """Pass one message to its recipient."""
        # xeus sends None as the parent of `iopub_welcome`, ipykernel an empty object.
        parent = (message.get("parent_header") or {}).get("msg_id") or ""
        recipient = self._open.get(parent)
        if recipient is None:
            self._unclaimed(channel, parent, message)
        else:
            recipient.received(channel, message)


async def give_way(size: int) -> None:
    """Let other tasks handle earlier messages before a message of `size` bytes is decoded.

    Otherwise a flood of output is in memory as bytes and as text, and once more as joined text.
    """
    if size > _LARGE:
        await asyncio.sleep(0)


async def read(
    where: str, receive: Callable[[], Awaitable[tuple[str, Message]]], route: Callable[[str, Message], None]
) -> None:
    """Route received messages, each with its channel, until cancelled; an unreadable message is skipped."""
    count = 0
    while True:
        try:
            route(*await receive())
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
            _log.warning("unreadable message %s: %r", where, error)
        count += 1
        # A receive that is ready at once never lets another task run, and in a flood all are.
        if count % 32 == 0:
            await asyncio.sleep(0)


# The version of Jupyter's messaging protocol.
_PROTOCOL = "5.3"


def new_request(
    kind: str,
    content: Mapping[str, Any] | None = None,
    *,
    session: str = "",
    metadata: Mapping[str, Any] | None = None,
    subshell: str = "",
) -> dict[str, Any]:
    """Return a new message of Jupyter's protocol, as its four parts. `session` is the client's id."""
    header = {
        "msg_id": uuid.uuid4().hex,
        "msg_type": kind,
        "username": "terp",
        "session": session or uuid.uuid4().hex,
        "date": datetime.now(UTC).isoformat(),
        "version": _PROTOCOL,
    }
    if subshell:
        header["subshell_id"] = subshell
    return {
        "header": header,
        "parent_header": {},
        "metadata": dict(metadata or {}),
        "content": dict(content or {}),
    }


class KernelReply:
    """A recipient that waits for one reply, and for the `idle` that follows it on iopub."""

    def __init__(self) -> None:
        self.content: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.idle = asyncio.Event()

    def received(self, channel: str, message: Message) -> None:
        """Take a message."""
        if channel == "iopub":
            if message["content"].get("execution_state") == "idle":
                self.idle.set()
        elif not self.content.done():
            self.content.set_result(message["content"])


class CommAnswer(KernelReply):
    """A recipient that waits for the answer of a comm of terp's package in the kernel."""

    def received(self, channel: str, message: Message) -> None:
        """Take a message."""
        if message["msg_type"] in ("comm_msg", "comm_close") and not self.content.done():
            self.content.set_result(message["content"].get("data") or {})


async def first_of(*futures: asyncio.Future[Any], timeout_s: float | None = None) -> None:
    """Return when one of `futures` is done or the time is up. Cancels none of them."""
    await asyncio.wait(futures, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)


async def is_set_within(seconds: float | None, event: asyncio.Event, *until: asyncio.Future[Any]) -> bool:
    """Return True if `event` is set within `seconds`, before one of `until` is done."""
    if event.is_set():
        return True
    wait = asyncio.create_task(event.wait())
    try:
        await first_of(wait, *until, timeout_s=seconds)
    finally:
        wait.cancel()
    return event.is_set()


Route = Callable[[str, Message], None]
"""Takes a message of the kernel with the name of its channel: "shell", "iopub", "stdin" or "control"."""


@dataclass(frozen=True, slots=True)
class Guest:
    """Terms of use of a kernel that another program started: terp neither restarts nor ends it.

    `session` is the client id of terp's requests. `farewell` is code that removes terp's package from the
    kernel.
    """

    session: str
    farewell: str = ""


class Connection(ABC):
    """A connection to one kernel process. Of no use after `gone` is done.

    There is one subclass for each place of a kernel: terp's process, another program's, a gateway's.
    """

    def __init__(self) -> None:
        self.gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Done when the kernel can no longer be used, with how it ended as a sentence."""
        self.may_live = False
        """True if a kernel that is `gone` may still run, out of reach, with its variables."""
        self._closed = False

    @property
    def connection_file(self) -> str:
        """Jupyter's connection file of the kernel, for other programs of this machine; "" where none fits."""
        return ""

    @abstractmethod
    async def open(self, route: Route) -> None:
        """Start the kernel or find it; from then on its messages go to `route`.

        It need not answer yet. After a failure `close` cleans up.

        Raises:
            KernelStartFailed: it cannot be started or reached.
        """

    @abstractmethod
    def send(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message, made by `new_request`, on "shell", "stdin" or "control"; never waits."""

    @abstractmethod
    async def interrupt(self) -> None:
        """Interrupt the code, in the way that the kernel supports."""

    async def stack(self) -> str:
        """Return the stack of the code, as faulthandler writes it; "" if it is not available at once.

        Only for a kernel that is killed next: code that handles the signal itself may end by it.
        """
        return ""

    @abstractmethod
    async def kill(self) -> None:
        """End the kernel at once, or only disconnect if it is not terp's; `gone` is done then."""

    async def close(self) -> None:
        """Disconnect and remove terp's files. Harmless when repeated, or before `open`."""
        if not self._closed:
            self._closed = True
            await self._disconnect()

    @abstractmethod
    async def _disconnect(self) -> None:
        """Do the work of `close`, once."""

    def last_words(self) -> str:
        """Return the last lines of the kernel's log, also after `close`; "" if there are none."""
        return ""

    @abstractmethod
    def not_up(self, seconds: float) -> KernelStartFailed:
        """Return the error for a kernel that ended at its start, or did not answer within `seconds`."""

    def _ended(self, how: str) -> None:
        if not self.gone.done():
            self.gone.set_result(how)


class Connector(ABC):
    """The facts of a kernel before it is reached, and the means to reach it. Made without heavy imports."""

    cwd: str = ""
    """The working directory at its start; "" if only the kernel can report it."""
    guest: Guest | None = None
    """The terms of use of another program's kernel; None for terp's kernels."""
    why: str = ""
    """The reason for this kernel, in a few words for the user; "" without one."""
    bootstrap: str = ""
    """Code that the kernel runs silently before the first cell: terp's own package; "" for none."""
    start_timeout_s: float = 60.0
    """Time limit for the first answer, in seconds."""
    results_lag: bool = False
    """True if a result may arrive after the kernel's `idle` status."""
    starting: AbstractAsyncContextManager[Any] = nullcontext()
    """Entered for the start: it may limit how many kernels start at once."""

    @property
    def tier(self) -> str:
        """The sandbox of the kernel; "none" without one, or if none is known."""
        return "none"

    @abstractmethod
    def load(self) -> Callable[[], Connection]:
        """Return a function that makes the connection. Imports its slow modules: call it in a thread."""
