"""The direct adapter against a scripted server."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from terp.errors import AuthFailed, ModelError, RequestRejected, Unavailable
from terp.events.messages import Assistant, Message, System, ToolCall, User
from terp.events.model import CallDelta, Chunk, Model, Replied, TextChunk, Usage
from terp.models.building import open_adapter
from terp.settings.model_settings import ModelOptions
from tests.loopback import Call, Http, Loopback, Raw, Scripted, Stalled

TOOL = {"type": "function", "function": {"name": "execute", "parameters": {"type": "object"}}}
ASKED: list[Message] = [System("be brief"), User("hi")]


def direct(server: Loopback, **options: object) -> Model:
    return open_adapter(ModelOptions("openai/m", api_base=server.url, **options), environ={})  # type: ignore[arg-type]


async def collect(chunks: AsyncGenerator[Chunk, None]) -> list[Chunk]:
    async with aclosing(chunks):
        return [chunk async for chunk in chunks]


async def answer(reply: Scripted, **options: object) -> list[Chunk]:
    with Loopback([reply]) as server:
        model = direct(server, **options)
        try:
            return await collect(model.stream(ASKED, [TOOL]))
        finally:
            await model.aclose()


async def failure(reply: Scripted, **options: object) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await answer(reply, **options)
    return caught.value


async def test_a_reply_arrives_in_pieces_and_then_whole() -> None:
    assert await answer(["hello to you, friend", Call(code="1")]) == [
        TextChunk("hello to you"),
        TextChunk(", friend"),
        CallDelta(0, "execute", ""),
        CallDelta(0, "", '{"language":'),
        CallDelta(0, "", ' "python", "'),
        CallDelta(0, "", 'code": "1"}'),
        Usage(10, 5),
        Replied(
            Assistant(
                "hello to you, friend",
                (ToolCall("call_0", "execute", '{"language": "python", "code": "1"}'),),
            ),
            "tool_calls",
        ),
    ]


async def test_the_request_holds_what_was_asked_for() -> None:
    with Loopback(["ok"]) as server:
        model = direct(server, temperature=0.5, max_tokens=9, api_key="secret-key")
        await collect(model.stream(ASKED, [TOOL]))
        await model.aclose()
    assert server.requests == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "tools": [TOOL],
            "temperature": 0.5,
            "max_tokens": 9,
        }
    ]
    assert server.headers[0]["Authorization"] == "Bearer secret-key"


async def test_one_connection_serves_several_requests() -> None:
    with Loopback(["one", "two"]) as server:
        model = direct(server)
        await collect(model.stream(ASKED))
        client = model._server._client  # type: ignore[attr-defined]
        await collect(model.stream(ASKED))
        assert len(client._transport._pool.connections) == 1
        await model.aclose()


async def test_a_missing_key_is_told_before_any_request() -> None:
    model = open_adapter(ModelOptions("groq/llama"), environ={})
    with pytest.raises(AuthFailed) as caught:
        await collect(model.stream(ASKED))
    assert str(caught.value) == "No key for provider 'groq'."
    assert (
        caught.value.remedy
        == "Set GROQ_API_KEY or store a key with terp keys set, or pick another model with --model."
    )


async def test_a_whole_json_reply_is_taken_like_a_stream() -> None:
    body = b'{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}'
    assert await answer(Raw(body, content_type="application/json")) == [
        TextChunk("hi"),
        Replied(Assistant("hi"), "stop"),
    ]


async def test_a_stream_with_the_wrong_content_type_is_read() -> None:
    body = b'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\n'
    assert (await answer(Raw(body, content_type="text/plain")))[0] == TextChunk("hi")


async def test_a_web_page_names_the_address_to_check() -> None:
    error = await failure(Raw(b"<html><title>Sign in</title></html>", content_type="text/html"))
    assert type(error) is RequestRejected
    assert "sent a web page instead of an answer (Sign in)" in error.message
    assert error.remedy == "Check --api-base: it usually ends in /v1."


async def test_an_answer_that_breaks_off_is_unavailable() -> None:
    error = await failure(Raw(b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\n'))
    assert type(error) is Unavailable
    assert error.message == "openai/m: the answer broke off before its end"


async def test_a_connection_that_breaks_off_is_unavailable() -> None:
    error = await failure(Raw(b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\n', broken=True))
    assert type(error) is Unavailable


async def test_an_answer_that_cannot_be_decoded_is_unavailable() -> None:
    error = await failure(Http(200, "no gzip at all", {"Content-Encoding": "gzip"}))
    assert type(error) is Unavailable
    assert "the connection broke off" in error.message


async def test_a_connection_lost_after_the_reply_ended_loses_nothing() -> None:
    body = b'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\n'
    assert await answer(Raw(body, broken=True)) == [TextChunk("hi"), Replied(Assistant("hi"), "stop")]


async def test_half_a_json_object_is_unavailable() -> None:
    error = await failure(Raw(b'data: {"choices": [{"del\n\n'))
    assert type(error) is Unavailable
    assert error.message == 'openai/m: not JSON in the answer: \'{"choices": [{"del\''


async def test_an_error_inside_a_stream_is_raised() -> None:
    error = await failure(Raw(b'data: {"error": {"code": 429, "message": "slow down"}}\n\n'))
    assert (type(error).__name__, error.message) == ("RateLimited", "openai/m: slow down")


async def test_a_stalled_stream_ends_at_the_timeout() -> None:
    error = await failure(Stalled(3), timeout_s=0.2)
    assert type(error) is Unavailable
    assert error.message == "openai/m: no data arrived for 0.2 s (timeout_s)"


async def test_pieces_that_come_in_time_do_not_add_up_to_the_timeout() -> None:
    with Loopback(["hello to you, friend"], chunk=1, pause_s=0.04) as server:
        model = direct(server, timeout_s=0.5)
        assert (await collect(model.stream(ASKED)))[-1] == Replied(Assistant("hello to you, friend"), "stop")
        await model.aclose()


async def test_a_reader_that_takes_its_time_does_not_end_the_stream() -> None:
    with Loopback(["hello to you, friend"]) as server:
        model = direct(server, timeout_s=0.1)
        async with aclosing(model.stream(ASKED)) as chunks:
            assert await anext(chunks) == TextChunk("hello to you")
            # Longer than the limit: only the server must be quick.
            await asyncio.sleep(0.3)
            assert [chunk async for chunk in chunks][-1] == Replied(Assistant("hello to you, friend"), "stop")
        await model.aclose()


async def test_who_stops_a_stalled_stream_gets_no_timeout() -> None:
    with Loopback([Stalled(3)]) as server:
        model = direct(server, timeout_s=60.0)
        reading = asyncio.ensure_future(collect(model.stream(ASKED)))
        await asyncio.wait({reading}, timeout=0.2)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await model.aclose()


async def test_nothing_listening_asks_for_the_server() -> None:
    with Loopback([]) as server:
        address = server.url
    model = open_adapter(ModelOptions("openai/m", api_base=address), environ={})
    with pytest.raises(Unavailable) as caught:
        await collect(model.stream(ASKED))
    await model.aclose()
    assert caught.value.remedy == f"Is the server at {address} running?"


async def test_a_refused_key_is_not_shown() -> None:
    body = '{"error": {"message": "Incorrect API key provided: sk-abcdefgh12345678."}}'
    error = await failure(Http(401, body), api_key="sk-abcdefgh12345678", api_key_env="MY_KEY")
    assert str(error) == "openai/m: Incorrect API key provided: [key]."
    assert error.remedy == "Check MY_KEY, or pick another model with --model."


async def test_leaving_early_ends_the_request() -> None:
    with Loopback(["a long answer " * 2000], pause_s=0.001) as server:
        model = direct(server)
        chunks = model.stream(ASKED)
        assert isinstance(await anext(chunks), TextChunk)
        await chunks.aclose()
        assert model._server._client._transport._pool.connections == []  # type: ignore[attr-defined]
        await model.aclose()
