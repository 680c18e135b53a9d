"""The messages of the protocol: one JSON object a line, on stdin and stdout."""

import asyncio
import json
import os
from typing import Any, NoReturn, cast

# A picture in a prompt is one line.
_LONGEST = 50_000_000
_REMEDY = "Send one JSON object of JSON-RPC 2.0 in each line."


class LineTransport:
    """Reads and writes messages (the SDK's `Transport`); answers lines that are no message with an error."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message; return when the client has room for more.

        Raises:
            ConnectionError: the client is gone.
        """
        if "errors" in ((message.get("error") or {}).get("data") or {}):
            message = {**message, "error": _explained(message["error"])}
        try:
            self._writer.write(json.dumps(message, separators=(",", ":"), default=str).encode() + b"\n")
            await self._writer.drain()
        except ConnectionError:
            # Requests to the client would wait for ever.
            self.end()
            raise

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None when the client is gone."""
        while line := await self._line():
            try:
                message: object = json.loads(line, parse_constant=_no_number)
            except (ValueError, RecursionError):
                await self._refuse(-32700, "Parse error")
                continue
            if _is_message(message):
                return cast("dict[str, Any]", message)
            await self._refuse(-32600, "Invalid request")
        return None

    async def close(self) -> None:
        """Close stdout."""
        self._writer.close()

    def end(self) -> None:
        """Let `receive` return None, as if the client had left."""
        if not self._reader.at_eof():
            self._reader.feed_eof()

    async def _line(self) -> bytes:
        while True:
            try:
                return await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as long:
                # The rest of the line is no JSON, and is answered as such.
                await self._reader.readexactly(long.consumed)
            except (asyncio.IncompleteReadError, ConnectionError):
                return b""

    async def _refuse(self, code: int, message: str) -> None:
        error = {"code": code, "message": f"{message}. {_REMEDY}", "data": {"remedy": _REMEDY}}
        await self.send({"jsonrpc": "2.0", "id": None, "error": error})


async def open_lines(stdin: int, stdout: int) -> LineTransport:
    """Return the transport over two descriptors, which are pipes or sockets.

    Raises:
        ValueError: one is a file.
    """
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=_LONGEST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(stdin, "rb"))
    pipe = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(stdout, "wb"))
    return LineTransport(reader, asyncio.StreamWriter(*pipe, reader, loop))


def _is_message(message: object) -> bool:
    """Return True for a request, a notification or an answer; the SDK fails at anything else."""
    if not isinstance(message, dict):
        return False
    if "method" in message:
        return isinstance(message["method"], str) and isinstance(message.get("id"), str | int | None)
    return isinstance(message.get("id"), int)


def _explained(error: dict[str, Any]) -> dict[str, Any]:
    """Return the SDK's error for wrong parameters without what was sent, which may be secret or no JSON."""
    lines = (f"{'.'.join(map(str, one['loc']))[:200]}: {one['msg'][:300]}" for one in error["data"]["errors"])
    return {**error, "message": f"{error['message']}: {'; '.join([*lines][:10])}", "data": None}


def _no_number(_: str) -> NoReturn:
    raise ValueError("JSON has no such number")
