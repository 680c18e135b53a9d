"""A thousand connections, gigabytes of frames, clients that never read: memory is bounded, others are served.

Against a server process of its own, whose memory is asked of the system.
"""

import asyncio
import json
import re
import socket
import threading
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.running import Terp, to
from tests.cli.server.attacks.raw import CHUNKED, MASK, Request, exchanged, frame, json_request, upgrade
from tests.cli.server.serving import BYTES, TOKEN
from tests.cli.server.test_process import started
from tests.loopback import Loopback

pytestmark = pytest.mark.faults

MEGABYTE = 1 << 20
MANY = 1_000
ANSWER = "word " * 200_000
# How long is written to a connection from which nothing is read any more, and how much altogether.
BLOCKED_S, MOST = 3.0, 1 << 30


@dataclass(frozen=True)
class Target:
    """A server process with an open session, and the memory it had before it was attacked."""

    pid: int
    port: int
    session: str
    before: int

    @property
    def grown(self) -> int:
        """The megabytes that it takes more."""
        return (memory(self.pid) - self.before) // MEGABYTE

    def filled(self, request: Request) -> bytes:
        path = request.path.replace("SESSION", self.session)
        sent = Request(request.method, path, request.hosts, request.auth, request.lines, request.body)
        return sent.sent(self.port)

    async def is_served(self) -> bool:
        """Whether another client is."""
        answers = [await exchanged(self.port, Request()) for _ in range(5)]
        return [answer.status for answer in answers] == [200] * 5


def memory(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4_096


@asynccontextmanager
async def target(folder: Path) -> AsyncGenerator[Target, None]:
    terp = Terp(folder)
    with Loopback([ANSWER]) as model, started(terp, *to(model), TERP_SERVER_TOKEN=TOKEN) as (process, lines):
        assert process.stderr is not None
        # A log that nobody reads would fill its pipe, and then hold up who writes it.
        reading = threading.Thread(target=process.stderr.read)
        reading.start()
        port = int(re.findall(r":(\d+)", lines[0])[0])
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers=headers, trust_env=False, timeout=60
        ) as client:
            session = (await client.post("/v1/sessions", json={})).json()["id"]
            path = f"/v1/sessions/{session}/files/large"
            await client.put(path, content=bytes(16 * MEGABYTE), headers=BYTES)
        yield Target(process.pid, port, session, memory(process.pid))
        process.kill()
        await asyncio.to_thread(reading.join)


@asynccontextmanager
async def crowd() -> AsyncGenerator[ExitStack, None]:
    with ExitStack() as stack:
        yield stack


def silent(server: Target, sent: bytes, stack: ExitStack) -> None:
    """A connection until the end of the stack, on which something is sent and nothing is read."""
    one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
    one.setblocking(False)
    one.send(sent)


SLOW_BODY = "Content-Type: application/json", "Content-Length: 4000000"
# What each of a thousand connections sends, to read nothing then; and the megabytes that they may take.
CROWDS: dict[str, tuple[Request | bytes, int]] = {
    "nothing at all": (b"", 100),
    "half a head": (b"GET /heartbeat HTTP/1.1\r\nHost: 127.0.0.1", 100),
    "a head without a token, and some body": (
        Request("POST", "/v1/sessions", auth="", lines=SLOW_BODY, body=b" " * 60_000),
        200,
    ),
    "a socket without a token": (upgrade("/v1/sessions/SESSION/ws", auth=""), 100),
    "a socket with the token": (upgrade("/v1/sessions/SESSION/ws"), 100),
    "a body that does not go on": (
        Request("POST", "/v1/sessions/SESSION/turns", lines=SLOW_BODY, body=b"{"),
        100,
    ),
    "the events": (Request(path="/v1/sessions/SESSION/events"), 100),
    "a large file": (Request(path="/v1/sessions/SESSION/files/large"), 600),
}


@pytest.mark.parametrize("what", CROWDS)
async def test_a_thousand_connections_that_read_nothing_keep_nobody_out(tmp_path: Path, what: str) -> None:
    sent, most = CROWDS[what]
    async with target(tmp_path) as server, crowd() as stack:
        content = sent if isinstance(sent, bytes) else server.filled(sent)
        for _ in range(MANY):
            silent(server, content, stack)
        served = await server.is_served()
        print(f"{what}: {server.grown} MB for {MANY} connections")  # noqa: T201  (a figure for who runs this)
        assert (served, server.grown < most) == (True, True), server.grown


SOCKET = upgrade("/v1/sessions/SESSION/ws", "Connection: Upgrade")
STRANGER = upgrade("/v1/sessions/SESSION/ws", "Connection: Upgrade", auth="")
HUGE = b"\x81\xff" + MOST.to_bytes(8, "big") + MASK
FLOODS: dict[str, tuple[Request, bytes, bytes]] = {
    "a frame of 1 GB": (SOCKET, HUGE, bytes(MEGABYTE)),
    "a frame of 1 GB of a stranger": (STRANGER, HUGE, bytes(MEGABYTE)),
    "1 GB in fragments": (SOCKET, frame(1, b"{", last=False), frame(0, bytes(100_000), last=False)),
    "pings": (SOCKET, b"", frame(9, b"x" * 125) * 500),
    "pings of a stranger": (STRANGER, b"", frame(9, b"x" * 125) * 500),
    "frames that are answered": (SOCKET, b"", frame(1, b'{"do": "fly"}') * 500),
    "a header without an end": (Request(lines=("X-Long: x",)), b"", b"x" * MEGABYTE),
    "requests without reading": (Request(), b"", b""),
    "a body of 1 GB without a token": (
        Request("POST", "/v1/sessions", auth="", lines=("Content-Type: application/json", CHUNKED)),
        b"",
        b"100000\r\n" + b" " * MEGABYTE + b"\r\n",
    ),
    "a body of 1 GB": (
        Request("POST", "/v1/sessions", lines=("Content-Type: application/json", CHUNKED)),
        b"",
        b"100000\r\n" + b" " * MEGABYTE + b"\r\n",
    ),
}


@pytest.mark.parametrize("what", FLOODS)
async def test_a_flood_from_who_reads_nothing_is_held_back(tmp_path: Path, what: str) -> None:
    request, first, piece = FLOODS[what]
    async with target(tmp_path) as server:
        begun = server.filled(request).replace(b"Connection: close\r\n", b"")
        if "header" in what:
            begun = begun[:-4]
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(begun + first)
        sent = await _poured(writer, piece or begun * 500)
        served = await server.is_served()
        writer.transport.abort()
        print(f"{what}: {sent / MEGABYTE:.0f} MB sent, {server.grown} MB taken")  # noqa: T201  (see above)
        assert (served, server.grown < 64) == (True, True), server.grown


async def _poured(writer: asyncio.StreamWriter, piece: bytes) -> int:
    """Send until all is sent, the connection is ended, or nothing more is taken; how many bytes that were."""
    sent = 0
    try:
        while sent < MOST:
            writer.write(piece)
            async with asyncio.timeout(BLOCKED_S):
                await writer.drain()
            sent += len(piece)
    except (TimeoutError, ConnectionError):
        pass
    return sent


async def test_who_reads_an_answer_slowly_holds_up_neither_the_turn_nor_memory(tmp_path: Path) -> None:
    async with target(tmp_path) as server, crowd() as stack:
        for _ in range(60):
            silent(server, server.filled(Request(path="/v1/sessions/SESSION/events")), stack)
        asked = json_request(
            "POST", f"/v1/sessions/{server.session}/turns", b'{"prompt": "hi", "stream": false}'
        )
        assert (await exchanged(server.port, asked)).status == 202
        path = f"/v1/sessions/{server.session}/close"
        while (await _state(server))["busy"]:
            assert await server.is_served()
        print(f"60 slow readers of 1 MB: {server.grown} MB taken")  # noqa: T201  (see above)
        closed = await exchanged(server.port, Request("POST", path))
        assert (closed.status, server.grown < 200) == (204, True), server.grown


async def _state(server: Target) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(
        (await exchanged(server.port, Request(path=f"/v1/sessions/{server.session}"))).body
    )
    return told
