"""The OpenAI SDK against `/openai`: one conversation, the last message of a request, and words in braces."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest

from terp.events.messages import Assistant, User
from terp.testing import EchoKernel, Scripted, call
from tests.cli.server.compat.speaking import COMPLETE, KEY, Speaking, joined, message, speaking
from tests.cli.server.serving import plain_client

ASKS = "Do you want to run this code?"


@asynccontextmanager
async def asking(
    folder: Path, *replies: Scripted, key: str = "dummy_key", **options: Any
) -> AsyncGenerator[tuple[Speaking, openai.AsyncOpenAI], None]:
    """A server, and the SDK as the documentation of 0.4.3 has it."""
    async with speaking(folder, *replies, **options) as server:
        base = f"http://127.0.0.1:{server.port}/openai"
        async with (
            plain_client(base) as http,
            openai.AsyncOpenAI(api_key=key, base_url=base, http_client=http, max_retries=0) as client,
        ):
            yield server, client


async def said(client: openai.AsyncOpenAI, text: str) -> str | None:
    """The answer to a message; None where there is none."""
    asked: Any = [{"role": "system", "content": "Be loud."}, {"role": "user", "content": text}]
    answer = await client.chat.completions.create(model="gpt-4", messages=asked)
    return answer.choices[0].message.content if answer else None


async def streamed(client: openai.AsyncOpenAI, text: str) -> str:
    asked: Any = [{"role": "user", "content": text}]
    pieces = await client.chat.completions.create(model="gpt-4", messages=asked, stream=True)
    return "".join([piece.choices[0].delta.content or "" async for piece in pieces if piece.choices])


async def test_the_sdk_reads_answers_whole_and_in_pieces(tmp_path: Path) -> None:
    """C18"""
    async with asking(tmp_path, "Paris.", "Still Paris.") as (server, client):
        answers = [await said(client, "The capital of France?"), await streamed(client, "Sure?")]
        [_, asked] = server.model.requests
    assert answers == ["Paris.", "Still Paris."]
    # Earlier turns are the server's, and a client's system prompt is not among them.
    assert asked[1:] == [User("The capital of France?"), Assistant("Paris."), User("Sure?")]


async def test_yes_runs_the_code_that_was_shown(tmp_path: Path) -> None:
    """C18"""
    async with asking(tmp_path, call("x"), "done", auto_run=False) as (server, client):
        shown = await streamed(client, "go")
        ran = list(server.kernel.ran)
        rest = await streamed(client, "Yes.")
    assert (shown.startswith("```python\nx\n```"), shown.endswith(ASKS), ran) == (True, True, [])
    assert rest.endswith("done")
    assert server.kernel.ran == ["x"]


async def test_the_key_of_the_protocol_is_that_of_the_sdk(tmp_path: Path) -> None:
    """C18"""
    environ = {"INTERPRETER_API_KEY": KEY}
    async with asking(tmp_path, "hello", environ=environ, key="wrong") as (_, client):
        with pytest.raises(openai.PermissionDeniedError):
            await said(client, "hi")
    async with asking(tmp_path, "hello", environ=environ, key=KEY) as (_, client):
        assert await said(client, "hi") == "hello"


async def test_frames_and_the_sdk_share_one_conversation(tmp_path: Path) -> None:
    """C18"""
    async with asking(tmp_path, "one", "two") as (server, client), server.client() as frames:
        await said(client, "first")
        seen = joined(await frames.until())
        await frames.answer("second")
        messages = await server.setting("messages")
        [_, asked] = server.model.requests
    assert seen == [*message("one"), COMPLETE]
    assert asked[1:] == [User("first"), Assistant("one"), User("second")]
    assert [one["content"] for one in messages] == ["first", "one", "second", "two"]


async def test_with_context_mode_on_messages_gather_until_start(tmp_path: Path) -> None:
    """C19"""
    async with asking(tmp_path, "answer") as (server, client):
        early = [await said(client, text) for text in ("{START}", "{CONTEXT_MODE_ON}", "one", "two")]
        answer = await said(client, "{START}")
        [asked] = server.model.requests
    assert (early, answer) == ([None] * 4, "answer")
    assert asked[1:] == [User("one\n\ntwo")]


async def test_with_context_mode_off_each_message_is_answered(tmp_path: Path) -> None:
    """C19"""
    async with asking(tmp_path, "answer") as (_, client):
        assert [await said(client, text) for text in ("{REQUIRE_START_ON}", "{REQUIRE_START_OFF}", "hi")] == [
            None,
            None,
            "answer",
        ]


@pytest.mark.parametrize("unsafe", [True, False])
async def test_code_runs_unasked_by_a_word_only_where_that_was_opened(tmp_path: Path, unsafe: bool) -> None:
    """C19"""
    async with asking(tmp_path, call("x"), "done", auto_run=False, unsafe=unsafe) as (server, client):
        if unsafe:
            assert await said(client, "{AUTO_RUN_ON}") is None
        else:
            with pytest.raises(openai.PermissionDeniedError):
                await said(client, "{AUTO_RUN_ON}")
        answer = await said(client, "go")
        ran = list(server.kernel.ran)
        assert await said(client, "{AUTO_RUN_OFF}") is None
    assert answer is not None
    assert (answer.endswith(ASKS), ran) == (not unsafe, ["x"] if unsafe else [])


async def test_stop_ends_what_goes_on_and_the_heartbeat_answers_meanwhile(tmp_path: Path) -> None:
    """C19"""
    kernel, loop = EchoKernel(), call(EchoKernel.ENDLESS)
    async with asking(tmp_path, loop, "next", kernels=lambda: kernel) as (server, client):
        running = asyncio.create_task(streamed(client, "loop"))
        await kernel.busy()
        stopped, alive = await asyncio.gather(said(client, "{STOP}"), server.http.get("/heartbeat"))
        await running
        assert await said(client, "and?") == "next"
    assert (stopped, alive.json()) == (None, {"status": "alive"})
