"""WebSockets that show nothing, show it wrongly, or break the rules of frames; on every route that is one."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

from terp_cli.server.connections import ServerLimits
from tests.cli.server.attacks.raw import (
    MASK,
    RawSocket,
    Request,
    exchanged,
    frame,
    raw_socket,
    upgrade,
)
from tests.cli.server.attacks.target import attacked, socket_routes
from tests.cli.server.serving import TOKEN

ASK = json.dumps({"do": "ask", "prompt": "hi"}).encode()
# First frames of who has not shown the token, and none of them does.
GREETINGS = {
    "another frame": frame(1, ASK),
    "prefix": frame(1, json.dumps({"token": TOKEN[:-1]}).encode()),
    "newline": frame(1, json.dumps({"token": f"{TOKEN}\n"}).encode()),
    "other case": frame(1, json.dumps({"token": TOKEN.upper()}).encode()),
    "empty": frame(1, json.dumps({"token": ""}).encode()),
    "null": frame(1, json.dumps({"token": None}).encode()),
    "list": frame(1, json.dumps({"token": [TOKEN]}).encode()),
    "number": frame(1, b'{"token": 1e999}'),
    "true": frame(1, b'{"token": true}'),
    "half a pair": frame(1, b'{"token": "\\ud800"}'),
    "no object": frame(1, json.dumps([TOKEN]).encode()),
    "bare": frame(1, TOKEN.encode()),
    "nothing": frame(1, b""),
    "deep": frame(1, b"[" * 4_000),
    "bytes": frame(2, json.dumps({"token": TOKEN}).encode()),
    "long": frame(1, json.dumps({"token": TOKEN, "more": "x" * 5_000}).encode()),
    "close": frame(8, b""),
}
BREACHES = {
    # 1 GB is announced, and none of it awaited.
    "1 GB": (b"\x81\xff" + (1 << 30).to_bytes(8, "big") + MASK, 1009),
    "2^63": (b"\x81\xff" + (1 << 63).to_bytes(8, "big") + MASK, 1009),
    "2^63 - 1": (b"\x81\xff" + ((1 << 63) - 1).to_bytes(8, "big") + MASK, 1009),
    "unmasked": (b"\x81\x02{}", 1002),
    "bad UTF-8": (frame(1, b"\xff\xfe"), 1007),
    "half a pair in UTF-8": (frame(1, b"\xed\xa0\x80"), 1007),
    "unknown opcode": (frame(3, b""), 1002),
    "reserved bit": (b"\xc1\x80" + MASK, 1002),
    "no JSON": (frame(1, b"oops"), 1007),
    "bytes": (frame(2, b"{}"), 1007),
    "deep": (frame(1, b"[" * 100_000), 1007),
    "fragment without a beginning": (frame(0, b"{}"), 1002),
    "message within a message": (frame(1, b"{", last=False) + frame(1, b"}"), 1002),
    "long ping": (frame(9, b"x" * 126), 1002),
    "ping in fragments": (frame(9, b"", last=False), 1002),
    "close with half a code": (frame(8, b"\x03"), 1002),
    "close with a code of nobody": (frame(8, (1005).to_bytes(2, "big")), 1002),
}
HANDSHAKES = {
    "no version": "Sec-WebSocket-Version: 13",
    "no key": "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
}


async def test_no_first_frame_but_the_token_opens_a_socket(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        before, codes = on.state(), {}
        for route in socket_routes(on.app):
            for name, sent in GREETINGS.items():
                async with raw_socket(on.port, on.path(route), auth="") as socket:
                    socket.send(sent + frame(1, ASK))
                    codes[route.path, name] = await socket.closed_with()
        assert len(codes) >= len(GREETINGS)
        assert {name: code for name, code in codes.items() if code not in (0, 1008)} == {}
        assert on.state() == before


async def test_a_first_message_is_long_only_of_who_is_known(tmp_path: Path) -> None:
    limits = ServerLimits(greeting=1_000)
    long = frame(1, json.dumps({"do": "ask", "prompt": "x" * 2_000, "id": 7}).encode())
    token = frame(1, json.dumps({"token": TOKEN}).encode())
    in_pieces = frame(1, b"x" * 600, last=False) + frame(0, b"x" * 600)
    async with attacked(tmp_path, limits=limits) as on:
        path = f"/v1/sessions/{on.session}/ws"
        for sent in (long, in_pieces):
            async with raw_socket(on.port, path, auth="") as socket:
                socket.send(sent)
                assert await socket.closed_with() == 1009
        for auth, sent in (({"auth": ""}, token + long), ({}, long)):
            async with raw_socket(on.port, path, **auth) as socket:
                socket.send(sent)
                replies = [content async for _, content in _until_told(socket, b'"reply_to": 7')]
            assert b'"after"' in replies[-1]


async def test_a_token_after_its_time_opens_no_socket(tmp_path: Path) -> None:
    async with attacked(tmp_path, limits=ServerLimits(greeting_s=0.1)) as on:
        before = on.state()
        for route in socket_routes(on.app):
            async with raw_socket(on.port, on.path(route), auth="") as socket:
                # A frame that never ends is none, and pings are no first frame.
                socket.send(frame(9, b"") + frame(1, b'{"token": ', last=False))
                assert await socket.closed_with() == 1008
                socket.send(frame(0, f'"{TOKEN}"}}'.encode()) + frame(1, ASK))
        assert on.state() == before


async def test_a_frame_against_the_rules_ends_the_socket(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        before, codes = on.state(), {}
        for route in socket_routes(on.app):
            for name, (sent, _) in BREACHES.items():
                async with raw_socket(on.port, on.path(route)) as socket:
                    socket.send(sent)
                    codes[route, name] = await socket.closed_with()
        alive = await exchanged(on.port, Request())
        assert {found: code for found, code in codes.items() if code != BREACHES[found[1]][1]} == {}
        assert (on.state(), alive.status) == (before, 200)


async def test_a_handshake_that_lacks_something_opens_no_socket(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        statuses = {}
        for route in socket_routes(on.app):
            whole = (
                upgrade(on.path(route)).sent(on.port).replace(b"Connection: close", b"Connection: Upgrade")
            )
            for name, line in HANDSHAKES.items():
                sent = whole.replace(f"{line}\r\n".encode(), b"")
                statuses[name] = (await exchanged(on.port, sent)).status
            statuses["POST"] = (await exchanged(on.port, whole.replace(b"GET ", b"POST ", 1))).status
    assert {name: status for name, status in statuses.items() if not 400 <= status < 500} == {}


async def test_pings_and_pieces_of_frames_are_taken_as_they_come(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on, raw_socket(on.port, f"/v1/sessions/{on.session}/ws") as socket:
        socket.send(frame(9, b"") * 1_000 + frame(1, b'{"do": "f', last=False) + frame(0, b'ly"}'))
        seen = [(opcode, content) async for opcode, content in _until_told(socket)]
    assert (seen.count((10, b"")), b"must be one of" in seen[-1][1]) == (1_000, True)


async def _until_told(socket: RawSocket, what: bytes = b"") -> AsyncGenerator[tuple[int, bytes], None]:
    async for opcode, content in socket.frames():
        yield opcode, content
        if opcode == 1 and what in content:
            return


async def test_a_socket_that_is_half_closed_is_ended_and_forgotten(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        async with raw_socket(on.port, f"/v1/sessions/{on.session}/ws") as socket:
            socket.writer.write_eof()
            left = [opcode async for opcode, _ in socket.frames()]
        state = await on.server.client.get(f"/v1/sessions/{on.session}")
    assert (left, state.json()["following"]) == ([], 0)
