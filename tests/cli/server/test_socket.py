"""A session over one WebSocket, and what a socket may not do."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from terp.testing import call
from terp_cli.server.connections import ServerLimits
from tests.cli.server.attacks.raw import raw_socket
from tests.cli.server.serving import TOKEN, Running, decision, serving

GOOD = {"Authorization": f"Bearer {TOKEN}"}


@asynccontextmanager
async def opened(
    server: Running, session: str, headers: dict[str, str] | None = None, **options: Any
) -> AsyncGenerator[ClientConnection, None]:
    url = f"ws://127.0.0.1:{server.port}/v1/sessions/{session}/ws"
    async with connect(url, additional_headers=headers, proxy=None, **options) as socket:
        yield socket


async def until(socket: ClientConnection, **fields: Any) -> dict[str, Any]:
    async for frame in socket:
        told: dict[str, Any] = json.loads(frame)
        if fields.items() <= told.items():
            return told
    raise AssertionError(f"nothing came with {fields}")


async def closed_with(socket: ClientConnection) -> int | None:
    with pytest.raises(ConnectionClosed) as caught:
        while True:
            await socket.recv()
    return caught.value.rcvd.code if caught.value.rcvd else None


async def test_a_whole_turn_goes_over_one_socket(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, call("x = 1"), "done") as server,
        opened(server, await server.created(), GOOD) as socket,
    ):
        await socket.send(json.dumps({"do": "ask", "id": 1, "prompt": "go"}))
        proposed = await until(socket, event="code_proposed")
        await socket.send(json.dumps({"do": "approve", "call_id": "c1", **decision(proposed)}))
        finished = await until(socket, event="turn_finished")
    assert finished["answer"] == "done"


async def test_a_change_of_the_session_is_sent_to_those_who_follow_it(tmp_path: Path) -> None:
    async with serving(tmp_path, "hello") as server:
        session = await server.created()
        async with opened(server, session, GOOD) as socket:
            # Its answer says that the socket follows.
            await socket.send(json.dumps({"do": "fly", "id": 1}))
            await until(socket, reply_to=1)
            path = f"/v1/sessions/{session}"
            told = (await server.client.patch(path, json={"model": "scripted/other"})).json()
            frame = json.loads(await socket.recv())
    assert (frame, told["model"]) == ({"changed_session": told}, "scripted/other")


async def test_what_cannot_be_done_is_told_with_the_id_of_the_frame(tmp_path: Path) -> None:
    frames = [
        {"do": "fly", "id": "a"},
        {"do": "ask", "id": "b", "prompt": " "},
        {"do": "ask", "id": "c", "prompt": 5},
        {"do": "approve", "id": "d", "call_id": "c1", "digest": "0" * 64, "decision": "run"},
        {"do": "answer", "id": "e", "question_id": "q1", "answer": "x"},
    ]
    async with serving(tmp_path) as server, opened(server, await server.created(), GOOD) as socket:
        codes = []
        for frame in frames:
            await socket.send(json.dumps(frame))
            told = json.loads(await socket.recv())
            codes.append((told["reply_to"], told["error"]["code"]))
    assert codes == [
        ("a", "wrong_value"),
        ("b", "nothing_asked"),
        ("c", "wrong_value"),
        ("d", "not_waiting"),
        ("e", "not_waiting"),
    ]


async def test_the_first_frame_may_show_the_token(tmp_path: Path) -> None:
    async with serving(tmp_path, "hello") as server, opened(server, await server.created()) as socket:
        await socket.send(json.dumps({"token": TOKEN}))
        await socket.send(json.dumps({"do": "ask", "prompt": "hi"}))
        assert (await until(socket, event="turn_finished"))["answer"] == "hello"


async def test_who_shows_no_token_in_time_is_let_go(tmp_path: Path) -> None:
    limits = ServerLimits(greeting_s=0.05)
    async with serving(tmp_path, limits=limits) as server, opened(server, "any") as socket:
        assert await closed_with(socket) == 1008


async def test_more_strangers_than_may_wait_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=ServerLimits(strangers=1)) as server, opened(server, "any"):
        with pytest.raises(InvalidStatus) as caught:
            async with opened(server, "any"):
                pass
    assert caught.value.response.status_code == 429


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer wrong"}, 401),
        ({**GOOD, "Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({**GOOD, "Host": "evil.example"}, 421),
    ],
)
async def test_a_socket_is_refused_before_it_is_opened(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    async with serving(tmp_path) as server:
        with pytest.raises(InvalidStatus) as caught:
            async with opened(server, await server.created(), headers):
                pass
    assert caught.value.response.status_code in (status, 400)


async def test_a_socket_of_no_session_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, opened(server, "2026-01-01-00000000", GOOD) as socket:
        assert await closed_with(socket) == 1008


async def test_a_frame_that_is_too_long_ends_the_socket(tmp_path: Path) -> None:
    limits = ServerLimits(frame=10_000)
    async with (
        serving(tmp_path, limits=limits) as server,
        opened(server, await server.created(), GOOD) as socket,
    ):
        await socket.send(json.dumps({"do": "ask", "prompt": "x" * 20_000}))
        assert await closed_with(socket) == 1009


async def test_a_client_that_reads_nothing_holds_nobody_up(tmp_path: Path) -> None:
    limits = ServerLimits(stall_s=0.2)
    async with serving(tmp_path, "long " * 4_000, limits=limits) as server:
        session = await server.created()
        async with raw_socket(server.port, f"/v1/sessions/{session}/ws") as socket:
            socket.writer.transport.pause_reading()  # type: ignore[attr-defined]
            events = await server.asked(session, "hi")
    assert events[-1]["event"] == "turn_finished"
