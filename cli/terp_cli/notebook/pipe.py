"""The socket to the notebook's kernel: messages to it, and the answers that it sends back."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Mapping
from typing import Any

# A line has all outputs of a run in it.
_LONGEST = 1 << 30


class KernelPipe:
    """Sends messages to the kernel, and reads its own."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._writer: asyncio.StreamWriter
        self._asked = 0
        self._open: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def messages(self) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the messages of the kernel that answer no question, until it ends."""
        reader, self._writer = await asyncio.open_connection(sock=self._socket, limit=_LONGEST)
        while line := await reader.readline():
            message: dict[str, Any] = json.loads(line)
            if message["do"] != "answer":
                yield message
            elif (answer := self._open.pop(message["id"], None)) and not answer.done():
                answer.set_result(message)

    def send(self, do: str, **fields: Any) -> None:
        """Send a message."""
        self._writer.write(json.dumps({"do": do, **fields}).encode() + b"\n")

    def show(
        self,
        data: dict[str, str],
        display_id: str = "",
        *,
        update: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Show a MIME bundle, or another one in its place."""
        self.send("show", data=data, id=display_id, update=update, metadata=metadata or {})

    async def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        """Send a question, and return its answer. Cancelling withdraws it."""
        self._asked += 1
        number = self._asked
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        self.send(do, id=number, **fields)
        try:
            return await answer
        finally:
            self._open.pop(number, None)
