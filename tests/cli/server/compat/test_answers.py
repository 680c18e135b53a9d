"""What a client is sent of an answer: the frames, their order, and the one `complete` at the end."""

import asyncio
from pathlib import Path

from terp.errors import Unavailable
from terp.events.messages import ToolCall
from terp.events.outputs import Display, Error, RunEnded, Text
from terp.testing import EchoKernel, call
from tests.cli.server.compat.speaking import (
    COMPLETE,
    block,
    code,
    console,
    joined,
    message,
    speaking,
    talking,
    text_of,
)
from tests.cli.server.serving import SECRET

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def test_messages_come_with_and_without_a_type_in_their_frames(tmp_path: Path) -> None:
    """C2"""
    async with talking(tmp_path, "one", "two") as client:
        first = await client.answer("typed")
        await client.send(
            {"role": "user", "start": True},
            {"role": "user", "type": "message", "content": "with"},
            {"role": "user", "type": "message", "content": "out"},
            {"role": "user", "end": True},
        )
        second = joined(await client.until())
    assert (first, second) == ([*message("one"), COMPLETE], [*message("two"), COMPLETE])


async def test_an_answer_with_code_is_the_recorded_sequence_of_frames(tmp_path: Path) -> None:
    """C3"""
    kernel = EchoKernel({"print(6*7)": [Text("stdout", "42\n")]})
    async with talking(
        tmp_path, ["Let me run it. ", call("print(6*7)")], "It is 42.", kernels=lambda: kernel
    ) as client:
        frames = await client.answer("6*7?")
    assert frames == [
        *message("Let me run it. "),
        *code("print(6*7)"),
        *console("42\n"),
        *message("It is 42."),
        COMPLETE,
    ]


async def test_frames_are_spelled_as_python_spells_json(tmp_path: Path) -> None:
    """C3"""
    async with talking(tmp_path, "é") as client:
        await client.ask("hi")
        texts = [await client.socket.recv() for _ in range(4)]
    assert texts == [
        '{"role": "assistant", "type": "message", "start": true}',
        '{"role": "assistant", "type": "message", "content": "\\u00e9"}',
        '{"role": "assistant", "type": "message", "end": true}',
        '{"role": "server", "type": "status", "content": "complete"}',
    ]


async def test_a_picture_stands_between_two_blocks_of_the_console(tmp_path: Path) -> None:
    """C4"""
    shown = Display({"image/png": f"{PNG}\n", "text/plain": "<Figure>"})
    kernel = EchoKernel({"plot()": [Text("stdout", "a"), shown]})
    async with talking(tmp_path, call("plot()"), "ok", kernels=lambda: kernel) as client:
        frames = await client.answer("draw")
    head = {"role": "computer", "type": "console"}
    assert frames == [
        *code("plot()"),
        {**head, "start": True},
        {**head, "format": "active_line", "content": 1},
        {**head, "format": "output", "content": "a"},
        {**head, "end": True},
        *block("computer", "image", "base64.png", PNG),
        {**head, "start": True},
        {**head, "format": "active_line", "content": None},
        {**head, "end": True},
        *message("ok"),
        COMPLETE,
    ]


async def test_a_page_is_code_of_the_computer(tmp_path: Path) -> None:
    """C5"""
    kernel = EchoKernel(
        {
            "page()": [
                Display({"text/html": "<b>x</b>", "text/plain": "x"}, is_result=True),
                Display({"application/javascript": "f()", "text/plain": "x"}),
                Display({"text/plain": "5"}, is_result=True),
            ]
        }
    )
    async with talking(tmp_path, call("page()"), kernels=lambda: kernel) as client:
        frames = await client.answer("show")
    html, script = (
        block("computer", "code", "html", "<b>x</b>"),
        block("computer", "code", "javascript", "f()"),
    )
    assert all(frame in frames for frame in [*html, *script])
    assert text_of(frames, "console") == "15"


async def test_errors_of_code_are_plain_output(tmp_path: Path) -> None:
    """C3"""
    error = Error("ValueError", "no", ("\x1b[31mTraceback\x1b[0m", "ValueError: no"))
    kernel = EchoKernel({"x()": [Text("stderr", "warned\n"), error, RunEnded("error")]})
    async with talking(tmp_path, call("x()"), kernels=lambda: kernel) as client:
        frames = await client.answer("go")
    assert console("warned\nTraceback\nValueError: no\n") == [
        frame for frame in frames if frame.get("role") == "computer"
    ]


async def test_only_the_code_that_comes_next_is_shown_of_several_calls(tmp_path: Path) -> None:
    """C7"""
    async with talking(tmp_path, [call("a"), call("b")], "ok", auto_run=False) as client:
        first = await client.answer("both")
        await client.command("go")
        second = joined(await client.until())
    assert first == [*code("a"), COMPLETE]
    assert second == [*console("a\n"), *code("b"), COMPLETE]


async def test_a_call_that_cannot_run_is_told_on_the_console(tmp_path: Path) -> None:
    """C3"""
    async with talking(
        tmp_path, ToolCall("", "execute", '{"language": "python", "code": ""}'), "ok"
    ) as client:
        frames = await client.answer("go")
    assert "The code is empty." in text_of(frames, "console")
    assert frames[-4:] == [*message("ok"), COMPLETE]


async def test_a_failure_of_the_model_is_an_error_and_a_complete(tmp_path: Path) -> None:
    """C13"""
    async with talking(tmp_path, Unavailable("The provider is away."), "back") as client:
        failed = await client.answer("hi")
        again = await client.answer("hi again")
    assert failed == [{"role": "server", "type": "error", "content": "The provider is away."}, COMPLETE]
    assert again == [*message("back"), COMPLETE]


async def test_an_empty_reply_is_an_error_and_a_complete(tmp_path: Path) -> None:
    """C24"""
    async with talking(tmp_path, "", "words") as client:
        empty = await client.answer("hi")
        again = await client.answer("hi?")
    told = "No chunks sent or unknown error."
    assert empty == [{"role": "server", "type": "error", "content": told}, COMPLETE]
    assert again == [*message("words"), COMPLETE]


async def test_two_clients_see_one_conversation(tmp_path: Path) -> None:
    """C22"""
    async with (
        speaking(tmp_path, [call("x")], "done") as server,
        server.client() as one,
        server.client() as other,
    ):
        await one.ask("go")
        seen = await asyncio.gather(one.until(), other.until())
    assert seen[0] == seen[1]
    assert joined(seen[0]) == [*code("x"), *console("x\n"), *message("done"), COMPLETE]


async def test_who_comes_later_sees_what_comes_later(tmp_path: Path) -> None:
    """C22"""
    async with speaking(tmp_path, "one", "two") as server, server.client() as first:
        await first.answer("1")
        async with server.client() as later:
            await first.ask("2")
            assert joined(await later.until()) == [*message("two"), COMPLETE]


async def test_a_secret_is_in_no_frame(tmp_path: Path) -> None:

    async with talking(tmp_path, [f"It is {SECRET}.", call(f"x = '{SECRET}'")], "ok") as client:
        await client.ask("go")
        frames = await client.until()
    assert SECRET not in str(frames)
    assert SECRET not in text_of(frames, "message") + text_of(frames, "code") + text_of(frames, "console")
