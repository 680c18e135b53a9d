"""Code that waits for `go`, `stop`, and what a client sends in the middle of an answer."""

import asyncio
from pathlib import Path

import pytest

from terp.errors import UnknownLanguage
from terp.events.kernel import Kernel
from terp.events.messages import Assistant, Result, User
from terp.testing import EchoKernel, call
from terp_cli.server.compat.accumulating import Misplaced
from terp_cli.server.connections import ServerLimits
from tests.cli.server.compat.speaking import (
    COMPLETE,
    Frame,
    code,
    console,
    joined,
    message,
    speaking,
    talking,
)
from tests.cli.server.serving import ResistingKernel

ENDLESS = EchoKernel.ENDLESS
RUNS = {"format": "active_line", "content": 1}


class OfPython(EchoKernel):
    """Runs nothing else."""

    def get(self, language: str) -> Kernel:
        if language != "python":
            raise UnknownLanguage(f"Nothing here runs {language!r}.")
        return super().get(language)


async def test_code_waits_behind_a_complete_and_is_the_last_message(tmp_path: Path) -> None:
    """C6"""
    async with (
        speaking(tmp_path, ["Like so.", call("x = 1")], auto_run=False) as server,
        server.client() as client,
    ):
        frames = await client.answer("set x")
        messages = await server.setting("messages")
        ran = list(server.kernel.ran)
    assert frames == [*message("Like so."), *code("x = 1"), COMPLETE]
    assert messages == [
        {"role": "user", "type": "message", "content": "set x"},
        {"role": "assistant", "type": "message", "content": "Like so."},
        {"role": "assistant", "type": "code", "format": "python", "content": "x = 1"},
    ]
    assert ran == []


async def test_go_runs_one_block_as_it_was_shown(tmp_path: Path) -> None:
    """C7"""
    async with (
        speaking(tmp_path, call("one"), call("two"), "done", auto_run=False) as server,
        server.client() as client,
    ):
        await client.answer("both")
        await client.command("go")
        first = joined(await client.until())
        ran = list(server.kernel.ran)
        await client.command("go")
        second = joined(await client.until())
        messages = await server.setting("messages")
    assert (first, ran) == ([*console("one\n"), *code("two"), COMPLETE], ["one"])
    assert second == [*console("two\n"), *message("done"), COMPLETE]
    assert "command" not in {one["type"] for one in messages}


async def test_another_message_declines(tmp_path: Path) -> None:
    """C8"""
    async with (
        speaking(tmp_path, call("rm()"), "Then not.", auto_run=False) as server,
        server.client() as client,
    ):
        await client.answer("clean up")
        frames = await client.answer("rather not")
        [*_, asked] = server.model.requests
        ran = list(server.kernel.ran)
    assert frames == [*message("Then not."), COMPLETE]
    assert ran == []
    assert [type(one) for one in asked[1:]] == [User, Assistant, Result, User]
    assert asked[-1] == User("rather not")
    assert isinstance(asked[-2], Result)
    assert asked[-2].text.startswith("Not run")


@pytest.mark.parametrize("frames", ["three", "one"])
async def test_stop_ends_the_code_with_one_complete(tmp_path: Path, frames: str) -> None:
    """C9"""
    async with talking(tmp_path, call(ENDLESS), call("print(1)"), "done") as client:
        await client.ask("loop")
        await client.until(RUNS)
        async with asyncio.timeout(2):
            if frames == "three":
                await client.command("stop")
            else:
                await client.send({"role": "user", "type": "command", "content": "stop"})
            stopped = await client.until()
        after = await client.answer("another")
    assert [frame for frame in stopped if frame.get("end")] == [
        {"role": "computer", "type": "console", "end": True}
    ]
    assert stopped[-1] == COMPLETE
    assert after == [*code("print(1)"), *console("print(1)\n"), *message("done"), COMPLETE]


async def test_stop_ends_code_that_resists_with_its_kernel(tmp_path: Path) -> None:
    kernel = ResistingKernel()
    async with talking(tmp_path, call(ENDLESS), "words", kernels=lambda: kernel) as client:
        await client.ask("loop")
        await client.until(RUNS)
        await client.command("stop")
        await client.until()
        after = await client.answer("talk")
    assert (kernel.interrupts, after) == (2, [*message("words"), COMPLETE])


async def test_stop_ends_code_that_waits(tmp_path: Path) -> None:
    """C9"""
    async with talking(tmp_path, call("x"), "words", auto_run=False) as client:
        await client.answer("go")
        await client.command("stop")
        stopped = await client.until()
        after = await client.answer("talk")
    assert (stopped, after) == ([COMPLETE], [*message("words"), COMPLETE])


async def test_stop_with_nothing_to_stop_is_one_complete(tmp_path: Path) -> None:
    """C9"""
    async with talking(tmp_path, "words") as client:
        await client.command("stop")
        assert await client.until() == [COMPLETE]
        assert await client.answer("talk") == [*message("words"), COMPLETE]


async def test_a_new_start_interrupts_and_the_next_complete_is_of_the_new_answer(tmp_path: Path) -> None:
    """C10"""
    async with talking(tmp_path, call(ENDLESS), "second") as client:
        await client.ask("loop")
        await client.until(RUNS)
        frames = await client.answer("never mind")
    assert frames == [
        {"role": "computer", "type": "console", "format": "active_line", "content": None},
        {"role": "computer", "type": "console", "end": True},
        *message("second"),
        COMPLETE,
    ]


async def test_code_of_a_client_runs_before_the_model_is_asked(tmp_path: Path) -> None:
    """C20"""
    async with (
        speaking(tmp_path, "It is 42.", auto_run=False) as server,
        server.client() as client,
    ):
        await client.send(
            {"role": "assistant", "start": True},
            {"role": "assistant", "type": "code", "format": "python", "content": "print(6*7)"},
        )
        await client.command("go")
        ran = joined(await client.until({"format": "active_line", "content": None}))
        rest = joined(await client.until())
        [asked] = server.model.requests
    assert ran == console("print(6*7)\n")[:-1]
    assert rest == [console()[-1], *message("It is 42."), COMPLETE]
    assert [type(one) for one in asked[1:]] == [User, Assistant, Result]
    assert asked[-1] == Result(asked[-1].call_id, "print(6*7)")  # type: ignore[union-attr]


async def test_go_is_to_one_call_and_not_to_the_same_code_later(tmp_path: Path) -> None:
    """C20"""
    frames: list[Frame] = [
        {"role": "assistant", "type": "code", "format": "cobol", "start": True},
        {"role": "assistant", "type": "code", "format": "cobol", "content": "x = 1"},
    ]
    async with (
        speaking(tmp_path, call("x = 1"), auto_run=False, kernels=OfPython) as server,
        server.client() as client,
    ):
        await client.send(*frames)
        await client.command("go")
        told = joined(await client.until())
        ran = list(server.kernel.ran)
    assert (told[-4:], ran) == ([*code("x = 1"), COMPLETE], [])


async def test_a_remote_runner_may_leave_with_its_output(tmp_path: Path) -> None:
    """C20"""
    async with speaking(tmp_path, "one", "two", auto_run=False) as server:
        for number in range(2):
            async with server.client() as client:
                await client.send(
                    {"role": "user", "start": True},
                    {"role": "assistant", "type": "code", "format": "python", "content": f"print({number})"},
                    {"role": "user", "type": "command", "content": "go"},
                )
                frames = await client.until({"format": "output"})
                assert frames[-1]["content"] == f"print({number})\n"


async def test_one_frame_is_enough_for_a_command(tmp_path: Path) -> None:
    """C21"""
    async with talking(tmp_path, call("x"), "done", auto_run=False) as client:
        await client.answer("run")
        await client.send({"role": "user", "type": "command", "content": "go"})
        assert joined(await client.until()) == [*console("x\n"), *message("done"), COMPLETE]


async def test_go_with_nothing_to_run_is_an_error(tmp_path: Path) -> None:
    """C14"""
    async with talking(tmp_path, "words") as client:
        await client.command("go")
        early = await client.until()
        await client.answer("talk")
        await client.command("go")
        late = await client.until()
    assert (
        early
        == late
        == [
            {"role": "server", "type": "error", "content": "There is no code to run."},
            COMPLETE,
        ]
    )


async def test_code_in_place_of_what_was_shown_never_runs(tmp_path: Path) -> None:
    """C7"""
    async with talking(tmp_path, call("safe()"), "done", auto_run=False) as client:
        await client.answer("go")
        await client.send({"role": "assistant", "type": "code", "format": "python", "content": "; more()"})
        await client.command("go")
        frames = joined(await client.until())
    assert frames == [*console("safe()\n"), *message("done"), COMPLETE]


async def test_code_waits_no_more_when_everybody_has_left(tmp_path: Path) -> None:

    limits = ServerLimits(patience_s=0.05)
    async with speaking(tmp_path, call("x"), "words", auto_run=False, limits=limits) as server:
        async with server.client() as client:
            await client.answer("run")
        await server.opener.made[0].idle()
        async with server.client() as client:
            frames = await client.answer("talk")
    assert frames == [*message("words"), COMPLETE]
    assert server.kernel.ran == []


async def test_go_is_to_what_its_sender_was_sent(tmp_path: Path) -> None:
    """C7"""
    go = {"role": "user", "type": "command", "content": "go"}
    async with speaking(tmp_path, call("x"), auto_run=False) as server, server.client() as client:
        shown = await client.answer("run")
        with pytest.raises(Misplaced, match="was not shown here yet"):
            await server.compat.conversation.take(go, seen=2)
        ran = list(server.kernel.ran)
        await client.send(go)
        await client.until()
    assert (shown, ran, server.kernel.ran) == ([*code("x"), COMPLETE], [], ["x"])
