"""Chat completions, as the real client of OpenAI sees them."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import openai
import pytest

from terp.errors import AuthFailed, RateLimited, RequestRejected, Unavailable
from terp.events import TurnFinished
from terp.events.messages import Assistant, ToolCall
from terp.events.model import Chunk, ReasoningChunk, Replied, Usage
from terp.events.outputs import Display, Error, RunEnded, Text
from terp.testing import EchoKernel, Part, ScriptedModel, call
from terp_cli.server.connections import ServerLimits
from tests.cli.server.openai.asking import (
    ASKS,
    answered,
    assistant,
    finishes,
    openai_client,
    said,
    streamed,
    text_of,
    user,
)
from tests.cli.server.serving import JSON, SECRET, TOKEN, ResistingKernel, plain_client, serving

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def test_an_answer_comes_in_one_object(tmp_path: Path) -> None:
    async with serving(tmp_path, "Paris.") as server, openai_client(server) as client:
        answer = await answered(client, user("The capital of France?"))
    [choice] = answer.choices
    assert (answer.object, answer.model, choice.index, choice.finish_reason) == (
        "chat.completion", "terp", 0, "stop",
    )  # fmt: skip
    assert (choice.message.role, choice.message.content) == ("assistant", "Paris.")
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (
        10,
        5,
        15,
    )


async def test_an_answer_comes_in_chunks(tmp_path: Path) -> None:
    async with serving(tmp_path, "Paris it is.") as server, openai_client(server) as client:
        chunks = await streamed(client, user("hi"), stream_options={"include_usage": True})
    *pieces, last, usage = chunks
    assert pieces[0].choices[0].delta.role == "assistant"
    assert (text_of(pieces), len(pieces) > 2) == ("Paris it is.", True)
    assert (last.choices[0].finish_reason, last.choices[0].delta.content) == ("stop", None)
    assert (usage.choices, usage.usage and usage.usage.total_tokens) == ([], 15)
    assert len({chunk.id for chunk in chunks}) == 1
    assert {chunk.choices[0].index for chunk in chunks if chunk.choices} == {0}


async def test_a_stream_ends_as_the_protocol_says(tmp_path: Path) -> None:
    body = {"model": "terp", "messages": [user("hi")], "stream": True}
    async with serving(tmp_path, "Paris") as server:
        answer = await server.client.post("/v1/chat/completions", json=body)
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    events = answer.text.removesuffix("\n\n").split("\n\n")
    assert {event[:6] for event in events} == {"data: "}
    assert events[-1] == "data: [DONE]"
    assert all("usage" not in json.loads(event[6:]) for event in events[:-1])


async def test_tokens_of_all_requests_of_a_turn_are_added_up(tmp_path: Path) -> None:
    async with serving(tmp_path, call("1"), call("2"), "done") as server, openai_client(server) as client:
        first = await answered(client, user("go"))
        second = await answered(client, user("go"), assistant(first.choices[0].message.content), user("yes"))
    assert [answer.usage and answer.usage.total_tokens for answer in (first, second)] == [15, 15]


async def test_code_is_shown_and_asked_about_and_yes_runs_it(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, ["I add. ", call("1 + 1")], "It is 2.") as server,
        openai_client(server) as client,
    ):
        asked = await said(client, user("1 + 1?"))
        [session] = server.opener.made
        assert isinstance(session.kernels, EchoKernel)
        before = list(session.kernels.ran)
        done = await said(client, user("1 + 1?"), assistant(asked), user("Yes."))
    assert asked == f"I add. \n\n```python\n1 + 1\n```\n\n{ASKS}"
    assert done == "```output\n1 + 1\n```\n\nIt is 2."
    assert (before, session.kernels.ran) == ([], ["1 + 1"])


@pytest.mark.parametrize("consent", ["yes", "YES", " Yes!", "yes.", "yes?!"])
async def test_every_spelling_of_yes_is_one(tmp_path: Path, consent: str) -> None:
    async with serving(tmp_path, call("x"), "done") as server, openai_client(server) as client:
        asked = await streamed(client, user("go"))
        done = await streamed(client, user("go"), assistant(text_of(asked)), user(consent))
        assert finishes(asked) + finishes(done) == ["stop", "stop"]
        assert text_of(done).endswith("done")


@pytest.mark.parametrize("answer", ["no", "yes, but use numpy", "y", "run it", "yess", "oh yes"])
async def test_anything_else_declines_and_the_model_hears_it(tmp_path: Path, answer: str) -> None:
    async with serving(tmp_path, call("x"), "fine") as server, openai_client(server) as client:
        asked = await said(client, user("go"))
        done = await said(client, user("go"), assistant(asked), user(answer))
        [session] = server.opener.made
        assert isinstance(session.kernels, EchoKernel)
        assert (done, session.kernels.ran) == (f"> Not run: {answer}\n\nfine", [])
        assert f"They said: {answer}" in str(session.history)


async def test_a_conversation_goes_on_in_its_session(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two", "three") as server, openai_client(server) as client:
        first = await said(client, user("a"))
        second = await said(client, user("a"), assistant(f" {first}\n"), user("b"))
        third = await said(client, user("a"), assistant(first), user("b"), assistant(second), user("c"))
        assert [first, second, third] == ["one", "two", "three"]
        assert len(server.opener.made) == 1


async def test_an_edited_past_begins_a_session_with_what_the_client_sent(tmp_path: Path) -> None:
    model = ScriptedModel("new")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        await said(client, user("a"), assistant("never said"), user("b"), assistant("nor this"), user("c"))
    [request] = model.requests
    assert [getattr(message, "text", "") for message in request[1:]] == [
        "a",
        "never said",
        "b",
        "nor this",
        "c",
    ]


async def test_equal_conversations_have_each_their_session(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two") as server, openai_client(server) as client:
        for _ in range(2):
            await said(client, user("a"))
        for _ in range(2):
            await said(client, user("a"), assistant("one"), user("b"))
        assert [len(session.turns) for session in server.opener.made] == [2, 2]


async def test_a_header_names_the_session(tmp_path: Path) -> None:
    async with serving(tmp_path, "one", "two") as server, openai_client(server) as client:
        session = await server.created()
        headers = {"X-Terp-Session": session}
        answers = [await said(client, user("a"), extra_headers=headers) for _ in range(2)]
        with pytest.raises(openai.NotFoundError):
            await said(client, user("a"), extra_headers={"X-Terp-Session": "2026-11-22-00000000"})
        raw = await client.chat.completions.with_raw_response.create(
            model="terp", messages=[{"role": "user", "content": "c"}], metadata={"terp_session": session}
        )
        assert (answers, len(server.opener.made)) == (["one", "two"], 1)
        assert raw.headers["x-terp-session"] == session


async def test_the_system_prompt_of_the_client_is_added_and_may_change(tmp_path: Path) -> None:
    model = ScriptedModel("one", "two")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        system = {"role": "system", "content": "Speak French."}
        again = {"role": "developer", "content": "Speak Greek."}
        first = await said(client, system, user("a"))
        await said(client, again, user("a"), assistant(first), user("b"))
        assert len(server.opener.made) == 1
    prompts = [getattr(request[0], "text", "") for request in model.requests]
    assert prompts == ["Be brief.\n\nSpeak French.", "Be brief.\n\nSpeak Greek."]


async def test_pictures_come_along_as_data(tmp_path: Path) -> None:
    model = ScriptedModel("a dot")
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "what is it?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    ]
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        await said(client, {"role": "user", "content": parts})
        parts[1]["image_url"] = {"url": "http://127.0.0.1/x.png"}
        with pytest.raises(openai.BadRequestError, match="A picture must be embedded"):
            await said(client, {"role": "user", "content": parts})
    asked = model.requests[0][-1]
    assert str(asked).startswith("User(text='what is it?', images=(Image(mime='image/png'")


async def test_pictures_that_code_makes_are_links_to_their_files(tmp_path: Path) -> None:
    kernel = EchoKernel(
        {"plot": [Text("stdout", "see\n"), Display({"image/png": PNG}), Text("stdout", "after\n")]}
    )
    async with (
        serving(tmp_path, call("plot"), "done", kernels=lambda: kernel) as server,
        openai_client(server) as client,
    ):
        asked = await said(client, user("go"))
        done = await said(client, user("go"), assistant(asked), user("yes"))
        [url] = re.findall(r"\((http\S+)\)", done)
        # As a page of another origin has it in an <img>.
        async with plain_client(server.url, headers={"Sec-Fetch-Site": "cross-site"}) as stranger:
            picture = await stranger.get(url)
            others = [url.replace("1-1", "1-2"), url.replace("until=1", "until=2"), url.partition("?")[0]]
            refused = [(await stranger.get(other)).status_code for other in others]
    assert done == f"```output\nsee\n```\n\n![1-1.png]({url})\n\n```output\nafter\n```\n\ndone"
    assert (picture.content[:4], refused) == (b"\x89PNG", [403, 403, 403])


async def test_a_fence_in_the_output_ends_no_fence(tmp_path: Path) -> None:
    kernel = EchoKernel(
        {
            "x": [
                Text("stdout", "a\n``"),
                Text("stdout", "`\nb\x1b[31m\n50%\r100%\n"),
                Error("E", "wrong"),
                RunEnded("error"),
            ]
        }
    )
    async with (
        serving(tmp_path, call("x"), "done", kernels=lambda: kernel) as server,
        openai_client(server) as client,
    ):
        asked = await said(client, user("go"))
        done = await said(client, user("go"), assistant(asked), user("yes"))
    assert done == "```output\na\n```\n\n````output\n```\nb\n100%\nE: wrong\n````\n\ndone"


async def test_what_the_model_thinks_comes_apart(tmp_path: Path) -> None:
    reply: list[Part | Chunk] = [ReasoningChunk("hm"), "yes", Usage(1, 1), Replied(Assistant("yes"))]
    async with serving(tmp_path, reply, reply) as server, openai_client(server) as client:
        whole = await answered(client, user("go"))
        chunks = await streamed(client, user("go"))
    thoughts = [getattr(chunk.choices[0].delta, "reasoning_content", None) for chunk in chunks]
    assert (getattr(whole.choices[0].message, "reasoning_content", ""), text_of(chunks)) == ("hm", "yes")
    assert "hm" in thoughts


async def test_no_secret_is_told(tmp_path: Path) -> None:
    async with serving(tmp_path, f"it is {SECRET}, keep it") as server, openai_client(server) as client:
        assert await said(client, user("go")) == "it is [redacted], keep it"


FAILURES = [
    (AuthFailed("no key"), openai.InternalServerError, 502, "auth"),
    (RequestRejected("too odd"), openai.BadRequestError, 400, "rejected"),
    (RateLimited("slow"), openai.RateLimitError, 429, "rate_limited"),
    (Unavailable("gone"), openai.InternalServerError, 503, "unavailable"),
]


@pytest.mark.parametrize(("failure", "kind", "status", "code"), FAILURES)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_failure_has_its_status_and_is_not_tried_again(
    tmp_path: Path,
    failure: Exception,
    kind: type[openai.APIStatusError],
    status: int,
    code: str,
    stream: bool,
) -> None:
    model = ScriptedModel(failure, "never asked for")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        with pytest.raises(kind) as raised:
            await (streamed if stream else answered)(client, user("go"))
    assert (raised.value.status_code, raised.value.code, raised.value.body) == (
        status, code, {"code": code, "message": str(failure), "param": None, "remedy": "",
                       "type": raised.value.type},
    )  # fmt: skip
    assert len(model.requests) == 1


async def test_a_failure_in_the_middle_is_an_event(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, ["I look. ", call("x")], Unavailable("gone")) as server,
        openai_client(server) as client,
    ):
        asked = await said(client, user("go"))
        with pytest.raises(openai.APIError, match="gone"):
            await streamed(client, user("go"), assistant(asked), user("yes"))


async def test_what_failed_can_be_said_again_in_the_same_session(tmp_path: Path) -> None:
    model = ScriptedModel("one", Unavailable("gone"), "two")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        first = await said(client, user("a"))
        with pytest.raises(openai.InternalServerError):
            await said(client, user("a"), assistant(first), user("b"))
        assert await said(client, user("a"), assistant(first), user("b")) == "two"
        assert [past.prompt for past in server.opener.made[0].turns] == ["a", "b"]


async def test_why_a_turn_stopped_early_is_told(tmp_path: Path) -> None:
    reply = ToolCall("", "nothing_like_it", "{}")
    async with serving(tmp_path, *[reply] * 9) as server, openai_client(server) as client:
        answer = await said(client, user("go"))
    assert answer.startswith("> The model's calls could not be understood")


async def test_a_client_that_leaves_stops_the_turn(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, call(EchoKernel.ENDLESS), "again") as server,
        openai_client(server) as client,
    ):
        asked = await said(client, user("go"))
        going = asyncio.create_task(said(client, user("go"), assistant(asked), user("yes")))
        [session] = server.opener.made
        assert isinstance(session.kernels, EchoKernel)
        await session.kernels.busy()
        going.cancel()
        await session.idle()
        assert session.kernels.get("python").generation == 1
        assert "interrupted" in str(session.log.since(0)[-1].event)


async def test_code_that_resists_ends_with_its_kernel_when_its_client_has_left(tmp_path: Path) -> None:
    kernel = ResistingKernel()
    async with (
        serving(tmp_path, call(kernel.ENDLESS), kernels=lambda: kernel) as server,
        openai_client(server) as client,
    ):
        asked = await said(client, user("go"))
        going = asyncio.create_task(said(client, user("go"), assistant(asked), user("yes")))
        await kernel.busy()
        going.cancel()
        async with asyncio.timeout(10):
            await server.opener.made[0].idle()
        assert kernel.interrupts == 2


async def test_a_client_that_leaves_stops_no_turn_behind_its_own(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, call(EchoKernel.ENDLESS), "two") as server,
        openai_client(server) as client,
    ):
        asked = await said(client, user("go"))
        going = asyncio.create_task(said(client, user("go"), assistant(asked), user("yes")))
        [session] = server.opener.made
        assert isinstance(session.kernels, EchoKernel)
        await session.kernels.busy()
        behind = server.sessions.get(session.folder.name).ask(lambda session: session.turn("behind"))
        going.cancel()
        await behind.ending()
        assert session.log.since(0)[-1].event == TurnFinished("done", "two")


async def test_code_that_nobody_comes_back_for_is_declined(tmp_path: Path) -> None:
    limits = ServerLimits(patience_s=0.05)
    async with (
        serving(tmp_path, call("x"), "again", limits=limits) as server,
        openai_client(server) as client,
    ):
        asked = await said(client, user("go"))
        [session] = server.opener.made
        await session.idle()
        assert await said(client, user("go"), assistant(asked), user("yes")) == "again"
        assert isinstance(session.kernels, EchoKernel)
        assert (session.kernels.ran, len(server.opener.made)) == ([], 1)


@pytest.mark.parametrize(
    ("messages", "options", "status"),
    [
        ([], {}, 422),
        ([user(" ")], {}, 400),
        ([user("a"), assistant("b")], {}, 400),
        ([user("a")], {"n": 2}, 400),
        ([user("a")], {"model": 3}, 422),
        ([user("a")], {"temperature": 9.0}, 400),
        ([user("a")], {"tool_choice": "required"}, 400),
        ([user("a")], {"tool_choice": {"type": "function", "function": {"name": "x"}}}, 400),
        ([user("a")], {"response_format": {"type": "grammar"}}, 400),
        ([user("a")], {"functions": [{"name": "x"}]}, 400),
        ([{"role": "wizard", "content": "a"}], {}, 422),
        ([{"role": "tool", "content": "a", "tool_call_id": "x"}], {}, 400),
        ([{"role": "user", "content": [{"type": "input_audio"}]}], {}, 400),
    ],
)
async def test_what_cannot_be_done_is_refused(
    tmp_path: Path, messages: list[object], options: dict[str, object], status: int
) -> None:
    async with serving(tmp_path, "never said") as server:
        body = {"model": "terp", "messages": messages, **options}
        answer = await server.client.post("/v1/chat/completions", json=body)
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, "invalid_request_error")


async def test_the_key_goes_in_either_header_and_in_one_alone(tmp_path: Path) -> None:
    body = {"messages": [user("a")]}
    both = {"X-API-KEY": TOKEN, "Authorization": f"Bearer {TOKEN}"}
    async with serving(tmp_path, "hello") as server, openai_client(server, max_retries=0) as client:
        shown = []
        for headers in ({"X-API-KEY": TOKEN}, both, {"X-API-KEY": "x" * 26}, {}):
            server.client.headers.pop("Authorization", None)
            answer = await server.client.post("/v1/chat/completions", json=body, headers={**JSON, **headers})
            shown.append(answer.status_code)
        wrong = client.with_options(api_key="wrong")
        with pytest.raises(openai.AuthenticationError):
            await said(wrong, user("a"))
    assert shown == [200, 401, 401, 401]


async def test_the_models_are_listed(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, openai_client(server) as client:
        listed = [model.id async for model in client.models.list()]
    assert listed == ["terp", "scripted/model"]


async def test_a_model_is_had_by_its_name(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, openai_client(server) as client:
        found = [(await client.models.retrieve(name)).id for name in ("terp", "scripted/model")]
        with pytest.raises(openai.NotFoundError, match="No model 'other' is listed"):
            await client.models.retrieve("other")
    assert found == ["terp", "scripted/model"]
