"""The WebSocket itself: its key, what it takes, acknowledgements, and going on after a drop."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from terp.testing import EchoKernel, call
from terp_cli.server.connections import ServerLimits
from tests.cli.server.compat.speaking import (
    COMPLETE,
    KEY,
    Client,
    Frame,
    code,
    console,
    joined,
    message,
    speaking,
    talking,
)
from tests.cli.server.serving import TOKEN

LOOP = (call(EchoKernel.ENDLESS), "ok")
ACKS = {"INTERPRETER_REQUIRE_ACKNOWLEDGE": "True"}


async def test_frames_before_the_key_are_dropped_and_each_is_told(tmp_path: Path) -> None:
    """C1"""
    async with talking(tmp_path, "hello", environ={"INTERPRETER_API_KEY": KEY}) as client:
        await client.send({"auth": "wrong"}, {"role": "user", "start": True}, "no json", {"auth": 5})
        told = [await client.receive() for _ in range(4)]
        await client.send({"auth": KEY})
        known = await client.receive()
        answer = await client.answer("hi")
    assert told == [{"auth": False}] * 4
    assert (known, answer) == ({"auth": True}, [*message("hello"), COMPLETE])


async def test_without_a_key_any_value_passes_and_none_as_well(tmp_path: Path) -> None:
    """C1"""
    async with speaking(tmp_path, "one", "two") as server:
        async with server.client() as client:
            await client.send({"auth": "whatever"})
            assert await client.receive() == {"auth": True}
            assert await client.answer("hi") == [*message("one"), COMPLETE]
        async with server.client() as client:
            assert await client.answer("hi") == [*message("two"), COMPLETE]


@pytest.mark.parametrize("environ", [{}, {"INTERPRETER_REQUIRE_AUTH": "False"}])
async def test_where_others_can_call_the_token_is_the_key(tmp_path: Path, environ: dict[str, str]) -> None:
    """C1"""
    async with talking(tmp_path, "hello", alone=False, environ=environ) as client:
        await client.send({"auth": "whatever"}, {"auth": TOKEN})
        assert [await client.receive() for _ in range(2)] == [{"auth": False}, {"auth": True}]


async def test_the_key_can_be_required_of_sockets_or_not(tmp_path: Path) -> None:
    """C1"""
    environ = {"INTERPRETER_API_KEY": KEY, "INTERPRETER_REQUIRE_AUTH": "False"}
    async with talking(tmp_path, "hello", environ=environ) as client:
        await client.send({"auth": "wrong"})
        assert await client.receive() == {"auth": True}
        assert await client.answer("hi") == [*message("hello"), COMPLETE]
    async with talking(tmp_path, "hello", environ={"INTERPRETER_REQUIRE_AUTH": "True"}) as client:
        await client.send({"role": "user", "start": True}, {"auth": "any"})
        assert [await client.receive() for _ in range(2)] == [{"auth": False}, {"auth": True}]


async def test_who_shows_no_key_in_time_or_tries_many_is_let_go(tmp_path: Path) -> None:
    """C1"""
    limits = ServerLimits(greeting_s=0.05)
    async with (
        speaking(tmp_path, environ={"INTERPRETER_API_KEY": KEY}, limits=limits) as server,
        server.client() as client,
    ):
        assert await closed_with(client) == 1008
    async with talking(tmp_path, environ={"INTERPRETER_API_KEY": KEY}) as client:
        await client.send(*[{"auth": f"guess {number}"} for number in range(10)])
        assert await closed_with(client) == 1008


async def test_a_first_frame_is_long_only_of_who_needs_no_key(tmp_path: Path) -> None:
    """C1"""
    limits = ServerLimits(greeting=1_000)
    long = {"role": "user", "type": "message", "start": True, "content": "x" * 2_000, "end": True}
    async with talking(tmp_path, "ok", limits=limits) as client:
        await client.send(long)
        assert joined(await client.until()) == [*message("ok"), COMPLETE]
    async with talking(tmp_path, "ok", limits=limits, environ={"INTERPRETER_API_KEY": KEY}) as client:
        await client.send(long)
        assert await closed_with(client) == 1009


async def closed_with(client: Client) -> int | None:
    with pytest.raises(ConnectionClosed) as caught:
        while True:
            await client.receive()
    return caught.value.rcvd.code if caught.value.rcvd else None


EARLY = "You must send a 'start: True' chunk first"


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ("{", "That is no JSON"),
        ("[" * 10_000, "That is no JSON"),
        ([{"role": "user"}], "A frame is a JSON object, not a list."),
        (
            {"role": "user", "type": "message", "content": "early"},
            "You must send a 'start: True' chunk first",
        ),
        ({"role": "user", "end": True}, EARLY),
        (b"bytes", EARLY),
        (
            {"role": "user", "start": True, "type": "command", "content": "fly", "end": True},
            "no command 'fly'",
        ),
    ],
)
async def test_a_frame_that_fits_nowhere_is_an_error_and_a_complete(
    tmp_path: Path, sent: Any, problem: str
) -> None:
    """C14"""
    async with talking(tmp_path, "hello") as client:
        await client.send(sent if isinstance(sent, str | bytes) else json.dumps(sent))
        error, complete = await client.until()
        assert await client.answer("hi") == [*message("hello"), COMPLETE]
    assert (error["role"], error["type"], problem in error["content"]) == ("server", "error", True)
    assert complete == COMPLETE


async def acknowledged(client: Client, last: Frame = COMPLETE) -> list[Frame]:
    """All frames to the last one, each acknowledged when it came for the second time."""
    frames: list[Frame] = []
    while True:
        frame = await client.receive()
        if not frames or frame["id"] != frames[-1]["id"]:
            frames.append(frame)
            continue
        await client.send({"ack": frame["id"]})
        if last.items() <= frame.items():
            return frames


def without_ids(frames: list[Frame]) -> list[Frame]:
    return [{name: value for name, value in frame.items() if name != "id"} for frame in frames]


async def test_frames_come_until_they_are_acknowledged_in_order(tmp_path: Path) -> None:
    """C11"""
    async with talking(tmp_path, call("x"), "ok", environ=ACKS) as client:
        await client.ask("go")
        frames = await acknowledged(client)
    assert joined(without_ids(frames)) == [*code("x"), *console("x\n"), *message("ok"), COMPLETE]
    assert len({frame["id"] for frame in frames}) == len(frames)
    assert {len(frame["id"]) for frame in frames} == {22}


async def test_an_acknowledgement_of_another_frame_moves_nothing(tmp_path: Path) -> None:
    """C11"""
    async with talking(tmp_path, "ok", environ=ACKS) as client:
        await client.ask("go")
        first = await client.receive()
        await client.send({"ack": "another"}, {"ack": ""})
        assert await client.receive() == first


async def test_the_rest_of_an_answer_waits_for_who_comes_again(tmp_path: Path) -> None:
    """C12"""
    kernel = EchoKernel()
    environ = {"INTERPRETER_API_KEY": KEY, **ACKS}
    async with speaking(tmp_path, *LOOP, kernels=lambda: kernel, environ=environ) as server:
        async with server.client() as client:
            await client.send({"auth": KEY})
            await client.receive()
            await client.ask("loop")
            first = await acknowledged(client, {"content": "whil"})
            await kernel.busy()
        await kernel.interrupt()
        async with server.client() as client:
            # Nothing is told before the key is shown.
            await client.send({"auth": "wrong"}, {"auth": KEY})
            assert [await client.receive() for _ in range(2)] == [{"auth": False}, {"auth": True}]
            rest = await acknowledged(client)
    assert joined(without_ids(unlike(first, rest))) == [
        *code(EchoKernel.ENDLESS),
        *console(),
        *message("ok"),
        COMPLETE,
    ]


def unlike(first: list[Frame], rest: list[Frame]) -> list[Frame]:
    """Both, without what came twice, as a client takes them that knows frames by their ids."""
    return [*first, *(frame for frame in rest if frame not in first)]


async def test_without_acknowledgements_the_rest_comes_as_well(tmp_path: Path) -> None:
    """C12"""
    kernel = EchoKernel()
    async with speaking(tmp_path, *LOOP, kernels=lambda: kernel) as server:
        async with server.client() as client:
            await client.ask("loop")
            first = await client.until({"format": "active_line"})
        await kernel.interrupt()
        async with server.client() as client:
            rest = await client.until()
    assert joined([*first, *rest]) == [
        *code(EchoKernel.ENDLESS),
        *console(),
        *message("ok"),
        COMPLETE,
    ]


async def test_other_clients_take_nothing_from_who_comes_again(tmp_path: Path) -> None:
    """C12"""
    async with speaking(tmp_path, "ok", environ=ACKS) as server, server.client() as stays:
        async with server.client() as client:
            await client.ask("go")
            first = await client.receive()
            async with asyncio.TaskGroup() as group:
                seen = group.create_task(acknowledged(stays))
        async with server.client() as client:
            again = await acknowledged(client)
    assert again[0] == first
    assert again == seen.result()


async def test_the_complete_of_another_answer_is_not_taken_for_that_of_an_own_one(tmp_path: Path) -> None:
    """C22"""
    async with (
        speaking(tmp_path, "one", "two", environ=ACKS) as server,
        server.client() as client,
        server.client() as slow,
    ):
        await client.ask("first")
        await acknowledged(client)
        # All of the first answer waits for who has acknowledged nothing of it.
        await slow.ask("second")
        frames = await acknowledged(slow)
    assert joined(without_ids(frames)) == [*message("one"), *message("two"), COMPLETE]


async def test_who_has_begun_a_message_is_told_no_complete_before_that_of_its_answer(tmp_path: Path) -> None:
    """C22"""
    async with (
        speaking(tmp_path, "one", "two") as server,
        server.client() as client,
        server.client() as writes,
    ):
        await writes.send({"role": "user", "type": "message", "start": True}, {"auth": "is taken"})
        assert await writes.receive() == {"auth": True}
        await client.answer("first")
        await writes.send(
            {"role": "user", "type": "message", "content": "second"},
            {"role": "user", "type": "message", "end": True},
        )
        frames = await writes.until()
    assert joined(frames) == [*message("one"), *message("two"), COMPLETE]


async def test_three_who_ask_at_once_are_each_told_one_complete_after_the_last_answer(tmp_path: Path) -> None:
    """C22"""
    async with (
        speaking(tmp_path, *["an answer"] * 3) as server,
        server.client() as one,
        server.client() as two,
        server.client() as three,
    ):
        clients = (one, two, three)
        await asyncio.gather(*(client.ask("all at once") for client in clients))
        seen = await asyncio.gather(*(client.until() for client in clients))
        # Nothing more is to come for any of them.
        await asyncio.gather(*(client.send({"auth": "again"}) for client in clients))
        then = await asyncio.gather(*(client.receive() for client in clients))
    assert [frames.count(COMPLETE) for frames in seen] == [1, 1, 1]
    assert then == [{"auth": True}] * 3
