"""What is too long, too deep, too slow or too many is refused in few words, and the server goes on."""

import asyncio
from pathlib import Path

from terp.testing import EchoKernel, call
from terp_cli.server.connections import ServerLimits
from tests.cli.server.attacks.raw import CHUNKED, GOOD, Request, exchanged, json_request, raw_socket
from tests.cli.server.attacks.target import BOTH, attacked, http_routes

SENSELESS = {
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "deep in a field": b'{"settings":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "many keys": b"{" + b",".join(b'"%d":0' % number for number in range(20_000)) + b"}",
    "many digits": b'{"a":' + b"9" * 100_000 + b"}",
    "no number": b'{"a": NaN, "b": 1e999}',
    "half a pair": b'{"a": "\\ud800", "\\udfff": 1}',
    "same key": b'{"a": 1, "a": 2}',
    "no UTF-8": b'{"a": "\xff\xfe"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "mark of order": b"\xef\xbb\xbf{}",
    "cut": b'{"prompt": "hi',
    "NUL": b"\0" * 100,
    "a string": b'"x"',
    "null": b"null",
}

SECOND = b"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\nContent-Type: application/json\r\n"
# Lengths about which two readers could differ: what one takes for a body is a request to the other.
UNCLEAR = {
    "two lengths": ("Content-Length: 2", "Content-Length: 200"),
    "list of lengths": ("Content-Length: 2, 200",),
    "signed": ("Content-Length: +2",),
    "negative": ("Content-Length: -2",),
    "hexadecimal": ("Content-Length: 0x2",),
    "of no number": ("Content-Length: ²",),
    "length and chunks": ("Content-Length: 2", CHUNKED),
    "chunks twice": (CHUNKED, CHUNKED),
    "no chunks": ("Transfer-Encoding: xchunked",),
    "identity": ("Transfer-Encoding: identity",),
    "chunks, then more": ("Transfer-Encoding: chunked, identity",),
    "odd space": ("Transfer-Encoding:\x0bchunked",),
    "space in the name": ("Transfer-Encoding : chunked",),
    "folded": ("Transfer-Encoding:", " chunked"),
}

HEADS = {
    "long header": Request(lines=("X-Long: " + "x" * 17_000,)),
    "longer header": Request(lines=("X-Long: " + "x" * 1_000_000,)),
    "many headers": Request(lines=tuple(f"X-{number}: 1" for number in range(20_000))),
    "long path": Request(path="/" + "x" * 17_000),
    "longer path": Request(path="/" + "x" * 100_000),
    "long query": Request(path="/heartbeat?" + "x" * 17_000),
    "NUL": Request(lines=("X: \0",)),
    "no colon": Request(lines=("no colon",)),
    "space": Request(path="/heart beat"),
    "no ASCII": Request(path="/\x7f\xff"),
    "no version": Request(version=""),
}


@BOTH
async def test_a_body_without_sense_is_refused_by_every_route(tmp_path: Path, kind: str) -> None:
    async with attacked(tmp_path, kind=kind) as on:
        got = {}
        for route in http_routes(on.app):
            for name, body in SENSELESS.items() if route.method == "POST" else ():
                answer = await exchanged(on.port, json_request("POST", on.path(route), body))
                if answer.status >= 500 or len(answer.body) > 10_000:
                    got[route.path, name] = answer
        alive = await exchanged(on.port, Request())
        assert (got, alive.status) == ({}, 200)


@BOTH
async def test_a_body_that_is_announced_too_long_is_not_awaited(tmp_path: Path, kind: str) -> None:
    async with attacked(tmp_path, kind=kind) as on:
        before = on.state()
        answers = {
            (route.method, route.path, size): await exchanged(
                on.port,
                Request(
                    route.method,
                    on.path(route),
                    lines=(f"Content-Type: {route.content}", f"Content-Length: {size}"),
                ),
            )
            for route in http_routes(on.app)
            for size in (5_000_000, 10**18)
            if size > 2 * ServerLimits().body or route.content == "application/json"
        }
        assert {name: answer for name, answer in answers.items() if answer.status != 413} == {}
        assert on.state() == before


@BOTH
async def test_a_body_is_of_the_type_that_its_route_takes(tmp_path: Path, kind: str) -> None:
    """What is announced as a file would be read into memory up to the length of one."""
    async with attacked(tmp_path, kind=kind) as on:
        answers = {
            (route, content): await exchanged(
                on.port,
                Request(route.method, on.path(route), lines=(f"Content-Type: {content}",), body=b"{}"),
            )
            for route in http_routes(on.app)
            for content in ("application/json", "application/octet-stream", "multipart/form-data; boundary=x")
            if content != route.content
        }
    assert {name: answer for name, answer in answers.items() if answer.status != 415} == {}


@BOTH
async def test_a_body_in_pieces_is_counted(tmp_path: Path, kind: str) -> None:
    pieces = (b"400\r\n" + b" " * 0x400 + b"\r\n") * 40 + b"0\r\n\r\n"
    async with attacked(tmp_path, kind=kind, limits=ServerLimits(body=10_000, upload=10_000)) as on:
        got = {}
        for route in sorted(http_routes(on.app), key=lambda one: one.method, reverse=True):
            if route.method not in ("POST", "PUT", "PATCH"):
                continue
            lines = (CHUNKED, f"Content-Type: {route.content}")
            sent = Request(route.method, on.path(route), lines=lines).sent(on.port) + pieces
            got[route] = (await exchanged(on.port, sent)).status
        assert {route: status for route, status in got.items() if status >= 500} == {}
        assert got[next(route for route in got if route.method == "PUT")] == 413
        work = on.server.sessions.workspaces.work
        assert [path for path in work.rglob("*") if path.is_file() and path.stat().st_size > 1] == []


async def test_a_body_of_unclear_length_hides_no_second_request(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        hidden = SECOND % (on.port, GOOD.encode()) + b"Content-Length: 2\r\n\r\n{}"
        statuses = {}
        for name, unclear in UNCLEAR.items():
            lines = ("Content-Type: application/json", *unclear)
            path = f"/v1/sessions/{on.session}/interrupt"
            sent = Request("POST", path, lines=lines).sent(on.port).replace(b"Connection: close\r\n", b"")
            statuses[name] = (await exchanged(on.port, sent + b"{}" + hidden)).status
        assert {name: status for name, status in statuses.items() if status not in (400, 501)} == {}
        assert len(on.server.sessions.open) == 1


async def test_a_head_that_is_too_long_or_none_is_refused(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        statuses = {name: (await exchanged(on.port, head)).status for name, head in HEADS.items()}
        alive = await exchanged(on.port, Request())
    assert {name: status for name, status in statuses.items() if status not in (0, 400, 414, 431)} == {}
    assert alive.status == 200


async def test_who_sends_no_whole_request_is_let_go(tmp_path: Path) -> None:
    begun = [b"", b"GET /heartbeat HT", b"GET /heartbeat HTTP/1.1\r\nHost: 127.0.0.1:", b"\r\n"]
    async with attacked(tmp_path, limits=ServerLimits(greeting_s=0.1)) as on:
        answers = [await exchanged(on.port, sent) for sent in begun]
        reader, writer = await asyncio.open_connection("127.0.0.1", on.port)
        writer.write(Request().sent(on.port).replace(b"Connection: close\r\n", b""))
        head = await reader.readuntil(b'"alive"')
        # Who has had an answer begins another request, and does not go on.
        writer.write(b"GET /heart")
        rest = await reader.read()
        writer.transport.abort()
    assert [answer.status in (0, 400, 408) for answer in answers] == [True] * len(begun)
    assert (b" 200 " in head, b"HTTP/1.1" in rest) == (True, False)


@BOTH
async def test_a_body_that_does_not_go_on_is_not_awaited(tmp_path: Path, kind: str) -> None:
    async with attacked(tmp_path, kind=kind, limits=ServerLimits(stall_s=0.1)) as on:
        statuses = {}
        for route in http_routes(on.app):
            if route.method not in ("POST", "PUT", "PATCH") or "{call_id}" in route.path:
                continue
            lines = (f"Content-Type: {route.content}", "Content-Length: 500")
            sent = Request(route.method, on.path(route), lines=lines).sent(on.port) + b"{"
            statuses[route] = (await exchanged(on.port, sent)).status
    assert {route: status for route, status in statuses.items() if status in (0, 500)} == {}
    assert 408 in statuses.values()


async def test_more_connections_than_may_be_are_refused_and_the_rest_is_served(tmp_path: Path) -> None:
    async with attacked(tmp_path, limits=ServerLimits(connections=10)) as on:
        await on.server.client.aclose()
        idle = [await asyncio.open_connection("127.0.0.1", on.port) for _ in range(9)]
        over = [await exchanged(on.port, Request()) for _ in range(3)]
        for _, writer in idle:
            writer.transport.abort()
        await asyncio.gather(*(reader.read() for reader, _ in idle), return_exceptions=True)
        after = await exchanged(on.port, Request())
    assert (over[-1].status, after.status) == (503, 200)


async def test_no_more_turns_wait_than_may_over_any_way_in(tmp_path: Path) -> None:
    limits = ServerLimits(queue=2, patience_s=30.0)
    endless = call(EchoKernel.ENDLESS)
    async with attacked(tmp_path, endless, limits=limits) as on:
        path = f"/v1/sessions/{on.session}/turns"
        request = json_request("POST", path, b'{"prompt": "go", "stream": false}')
        statuses = [(await exchanged(on.port, request)).status for _ in range(5)]
        async with raw_socket(on.port, f"/v1/sessions/{on.session}/ws?after=999999") as socket:
            socket.say(do="ask", prompt="go", id=1)
            told = b""
            async for opcode, content in socket.frames():
                if opcode == 1 and b"reply_to" in content:
                    told = content
                    break
        turns = on.server.sessions.open[0].turns
        assert (statuses, turns.waiting, b'"too_many"' in told) == ([202, 202, 202, 429, 429], 2, True)
