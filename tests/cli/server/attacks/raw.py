"""Requests and frames as bytes on a socket: no client that puts right what an attacker has made wrong."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from tests.cli.server.serving import TOKEN

GOOD = f"Authorization: Bearer {TOKEN}"
WAIT_S = 20.0
MASK = b"\0\0\0\0"
CHUNKED = "Transfer-Encoding: chunked"


@dataclass(frozen=True)
class Answer:
    """What came back. `status` is 0 when the server closed the connection without a word."""

    status: int
    headers: str = ""
    body: str = ""

    @property
    def code(self) -> str:
        """The word of a refusal; "" for anything else."""
        try:
            return str(json.loads(self.body)["error"]["code"])
        except (ValueError, KeyError, TypeError):
            return ""


@dataclass(frozen=True)
class Request:
    """A request, each line as it goes out; PORT stands for that of the server."""

    method: str = "GET"
    path: str = "/heartbeat"
    hosts: tuple[str, ...] = ("127.0.0.1:PORT",)
    auth: str = GOOD
    lines: tuple[str, ...] = ()
    body: bytes = b""
    version: str = "HTTP/1.1"

    def with_lines(self, *lines: str) -> "Request":
        return replace(self, lines=(*self.lines, *lines))

    def sent(self, port: int) -> bytes:
        first = f"{self.method} {self.path} {self.version}"
        length = [f"Content-Length: {len(self.body)}"] if self.body else []
        auth = [self.auth] if self.auth else []
        hosts = [f"Host: {host}" for host in self.hosts]
        lines = [first, *hosts, *auth, *self.lines, *length, "Connection: close", "", ""]
        return "\r\n".join(lines).replace("PORT", str(port)).encode("latin-1") + self.body


def json_request(method: str, path: str, body: bytes) -> Request:
    return Request(method, path, lines=("Content-Type: application/json",), body=body)


async def exchanged(port: int, sent: Request | bytes) -> Answer:
    """The answer to a request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent.sent(port) if isinstance(sent, Request) else sent)
        async with asyncio.timeout(WAIT_S):
            return await _answer(reader)
    except ConnectionError:
        return Answer(0)
    finally:
        writer.transport.abort()


async def _answer(reader: asyncio.StreamReader) -> Answer:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return Answer(0)
    body = b"" if "text/event-stream" in head or " 101 " in head[:16] else await reader.read()
    return Answer(int(head.split(" ", 2)[1]), head, body.decode("utf-8", "replace"))


def upgrade(path: str, *lines: str, auth: str = GOOD) -> Request:
    """The request for a WebSocket."""
    asked = ("Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    return Request(path=path, auth=auth, lines=(*asked, *lines))


@dataclass(frozen=True)
class RawSocket:
    """A WebSocket behind its handshake, as bytes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, sent: bytes) -> None:
        self.writer.write(sent)

    def say(self, **fields: Any) -> None:
        """A whole frame of JSON."""
        self.send(frame(1, json.dumps(fields).encode()))

    async def frames(self) -> AsyncGenerator[tuple[int, bytes], None]:
        """Opcode and content of each frame until the server closes the connection."""
        while True:
            try:
                first, length = await self.reader.readexactly(2)
                if length > 125:
                    size = 2 if length == 126 else 8
                    length = int.from_bytes(await self.reader.readexactly(size), "big")
                content = await self.reader.readexactly(length)
            except (asyncio.IncompleteReadError, ConnectionError):
                return
            yield first & 0xF, content

    async def closed_with(self) -> int:
        """The code with which the server ends it; 0 when it just does."""
        async with asyncio.timeout(WAIT_S):
            async for opcode, content in self.frames():
                if opcode == 8:
                    return int.from_bytes(content[:2], "big")
        return 0


@asynccontextmanager
async def raw_socket(port: int, path: str, auth: str = GOOD) -> AsyncGenerator[RawSocket, None]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(upgrade(path, auth=auth).sent(port).replace(b"Connection: close", b"Connection: Upgrade"))
    try:
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        yield RawSocket(reader, writer)
    finally:
        writer.transport.abort()


def frame(opcode: int, content: bytes, *, last: bool = True) -> bytes:
    """A frame as clients send it, with a mask that changes nothing."""
    size = len(content)
    if size < 126:
        length = bytes([0x80 | size])
    elif size < 1 << 16:
        length = bytes([0x80 | 126]) + size.to_bytes(2, "big")
    else:
        length = bytes([0x80 | 127]) + size.to_bytes(8, "big")
    return bytes([opcode | (0x80 if last else 0)]) + length + MASK + content
