"""Requests to a kernel and their answers: each message goes to the recipient that waits for it."""

import asyncio
import logging
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

Message = Mapping[str, Any]

# So many bytes of a message are taken in before the next one is decoded.
_LARGE = 50_000

_log = logging.getLogger(__name__)


class Recipient(Protocol):
    """The sender of a request; receives every message that names the request as its parent."""

    def received(self, channel: str, message: Message) -> None:
        """A message of one channel; called in the order of that channel."""


class Dispatcher:
    """Gives messages to the senders of the requests they belong to.

    What belongs to no open request goes to `unclaimed`, with the id of the parent.
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
    """Let other tasks consume earlier messages before a message of `size` bytes is decoded.

    A flood would be there as bytes and as text, and then once more where its pieces are joined.
    """
    if size > _LARGE:
        await asyncio.sleep(0)


async def read(channel: str, receive: Callable[[], Any], route: Callable[[str, Message], None]) -> None:
    """Route what `receive` brings until cancelled; a message that cannot be read loses only itself."""
    count = 0
    while True:
        try:
            message = await receive()
            route(channel, message)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
            _log.warning("unreadable message on %s: %r", channel, error)
        count += 1
        # A receive that is ready at once never lets another task run, and in a flood all are.
        if count % 32 == 0:
            await asyncio.sleep(0)


# The version of Jupyter's messaging protocol that is spoken.
_PROTOCOL = "5.3"


def new_request(
    kind: str,
    content: Mapping[str, Any] | None = None,
    *,
    session: str = "",
    metadata: Mapping[str, Any] | None = None,
    subshell: str = "",
) -> dict[str, Any]:
    """A message of Jupyter's protocol, as its four parts. `session` is the id of the client."""
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


class CommAnswer:
    """A recipient that waits for what a comm of the bootstrap sends back."""

    def __init__(self) -> None:
        self.data: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

    def received(self, channel: str, message: Message) -> None:
        """Take a message."""
        if message["msg_type"] in ("comm_msg", "comm_close") and not self.data.done():
            self.data.set_result(message["content"].get("data") or {})
