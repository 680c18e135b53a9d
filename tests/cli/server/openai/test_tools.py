"""Tools of the client: the model calls them, the client answers, and the turn goes on."""

import json
from pathlib import Path
from typing import Any

import pytest

from terp.events.messages import Assistant, Result, ToolCall
from terp.events.model import demanded
from terp.testing import EchoKernel, ScriptedModel, call
from tests.cli.server.openai.asking import ASKS, answered, openai_client, streamed, user
from tests.cli.server.serving import serving

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
ASKED = ToolCall("call_w", "weather", '{"city": "Paris"}')


def result(text: str, call_id: str = "call_w") -> dict[str, str]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def called(arguments: str = '{"city": "Paris"}', text: str | None = None) -> dict[str, Any]:
    function = {"name": "weather", "arguments": arguments}
    calls = [{"id": "call_w", "type": "function", "function": function}]
    return {"role": "assistant", "content": text, "tool_calls": calls}


async def test_a_call_ends_the_answer_and_its_result_goes_on_with_the_turn(tmp_path: Path) -> None:
    model = ScriptedModel([ASKED], "It rains.")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        first = await answered(client, user("Paris?"), tools=[WEATHER])
        [choice] = first.choices
        second = await answered(
            client, user("Paris?"), choice.message.to_dict(), result("rain"), tools=[WEATHER]
        )
        [session] = server.opener.made
    [tool_call] = choice.message.tool_calls or []
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
    assert tool_call.to_dict() == {
        "id": "call_w",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city": "Paris"}'},
    }
    assert (second.choices[0].message.content, second.choices[0].finish_reason) == ("It rains.", "stop")
    assert [one["function"]["name"] for one in model.tools[0]] == ["execute", "weather"]
    assert model.requests[1][2:] == [Assistant("", (ASKED,)), Result("call_w", "rain")]
    assert len(session.turns) == 1


async def test_a_call_comes_in_a_chunk(tmp_path: Path) -> None:
    async with serving(tmp_path, ["I look. ", ASKED]) as server, openai_client(server) as client:
        chunks = await streamed(client, user("Paris?"), tools=[WEATHER])
    [found] = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    assert found.function is not None
    assert (found.index, found.id, found.function.name) == (0, "call_w", "weather")
    assert json.loads(found.function.arguments or "") == {"city": "Paris"}
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


async def test_a_call_that_the_model_misspells_has_the_name_of_the_tool(tmp_path: Path) -> None:
    asked = ToolCall("call_w", "functions.weather", '{"city": "Paris"}')
    async with serving(tmp_path, [asked]) as server, openai_client(server) as client:
        [choice] = (await answered(client, user("Paris?"), tools=[WEATHER])).choices
    [found] = choice.message.tool_calls or []
    assert found.to_dict()["function"] == {"name": "weather", "arguments": '{"city": "Paris"}'}


async def test_code_and_a_call_in_one_reply_are_both_done(tmp_path: Path) -> None:
    model = ScriptedModel([call("x = 1"), ASKED], "done")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        asked = await answered(client, user("go"), tools=[WEATHER])
        messages = [user("go"), asked.choices[0].message.to_dict(), user("yes")]
        ran = await answered(client, *messages, tools=[WEATHER])
        messages += [ran.choices[0].message.to_dict(), result("rain")]
        done = await answered(client, *messages, tools=[WEATHER])
        [session] = server.opener.made
        assert isinstance(session.kernels, EchoKernel)
        assert session.kernels.ran == ["x = 1"]
    assert [answer.choices[0].finish_reason for answer in (asked, ran, done)] == [
        "stop", "tool_calls", "stop",
    ]  # fmt: skip
    assert [one for one in model.requests[1] if isinstance(one, Result)][1] == Result("call_w", "rain")


async def test_a_conversation_with_calls_from_elsewhere_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel("It rains.")
    messages = [user("Paris?"), called(), result("rain")]
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        await answered(client, *messages, tools=[WEATHER])
    assert model.requests[0][2:] == [Assistant("", (ASKED,)), Result("call_w", "rain")]


async def test_who_says_something_else_leaves_the_call_undone(tmp_path: Path) -> None:
    model = ScriptedModel([ASKED], "fine")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        asked = await answered(client, user("Paris?"), tools=[WEATHER])
        await answered(client, user("Paris?"), asked.choices[0].message.to_dict(), user("never mind"))
    assert isinstance(model.requests[1][3], Result)
    assert model.requests[1][3].text.startswith("Not run")
    assert [len(tools) for tools in model.tools] == [2, 1]


async def test_a_tool_cannot_take_the_place_of_terps_own(tmp_path: Path) -> None:
    own = {"type": "function", "function": {"name": "execute"}}
    async with serving(tmp_path, "never said") as server:
        body = {"messages": [user("a")], "tools": [own]}
        answer = await server.client.post("/v1/chat/completions", json=body)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


async def test_no_tools_are_offered_where_none_may_be_chosen(tmp_path: Path) -> None:
    model = ScriptedModel("fine")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        await answered(client, user("a"), tools=[WEATHER], tool_choice="none")
    assert [one["function"]["name"] for one in model.tools[0]] == ["execute"]


FORCED = {"type": "function", "function": {"name": "weather"}}


@pytest.mark.parametrize("choice", ["required", FORCED], ids=["any", "one"])
async def test_a_choice_of_tools_is_passed_on(tmp_path: Path, choice: Any) -> None:
    model = ScriptedModel([ASKED], "It rains.")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        first = await answered(client, user("Paris?"), tools=[WEATHER], tool_choice=choice, top_p=0.5)
        messages = [user("Paris?"), first.choices[0].message.to_dict(), result("rain")]
        await answered(client, *messages, tools=[WEATHER])
    assert [demanded(tools) for tools in model.tools] == [{"tool_choice": choice, "top_p": 0.5}, {}]


async def test_an_answer_in_a_form_is_the_last_reply_alone(tmp_path: Path) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    model = ScriptedModel(["I look. ", call("x")], '{"n": 1}')
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        asked = await answered(client, user("n?"), response_format=form)
        messages = [user("n?"), asked.choices[0].message.to_dict(), user("yes")]
        done = await answered(client, *messages, response_format=form)
    assert asked.choices[0].message.content == f"```python\nx\n```\n\n{ASKS}"
    assert done.choices[0].message.content == '{"n": 1}'
    assert [demanded(tools) for tools in model.tools] == [{"response_format": form}] * 2
