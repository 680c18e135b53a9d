"""The wire to a running kernel: one reader per channel, each message given to whom it answers."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

Message = Mapping[str, Any]

# So many bytes of a message are taken in before the next one is decoded.
_LARGE = 50_000

_log = logging.getLogger(__name__)


class Recipient(Protocol):
    """Who sent a request, and is given everything that names it as its parent."""

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
        """From now on `recipient` gets what answers the request `message_id`."""
        self._open[message_id] = recipient

    def forget(self, message_id: str) -> None:
        """The request is closed; what still comes for it is unclaimed."""
        self._open.pop(message_id, None)

    def route(self, channel: str, message: Message) -> None:
        """Give one message away."""
        # xeus sends None as the parent of `iopub_welcome`, ipykernel an empty object.
        parent = (message.get("parent_header") or {}).get("msg_id") or ""
        recipient = self._open.get(parent)
        if recipient is None:
            self._unclaimed(channel, parent, message)
        else:
            recipient.received(channel, message)


async def give_way(size: int) -> None:
    """Before a message of so many bytes is decoded, let others take what came before it.

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
