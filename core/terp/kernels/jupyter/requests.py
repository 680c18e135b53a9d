"""Requests to a kernel, and the recipients that wait for what answers them."""

import asyncio
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from terp.kernels.jupyter.channels import Message

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


class Reply:
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
