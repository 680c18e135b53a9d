"""OpenAI's Responses, as its real client and what is built upon that see them."""

from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.responses import ResponseFunctionToolCall
from pydantic import BaseModel

from terp.errors import RateLimited
from terp.events.messages import Assistant, Result, ToolCall
from terp.events.model import demanded
from terp.testing import EchoKernel, ScriptedModel, call
from tests.cli.server.openai.asking import ASKS, openai_client
from tests.cli.server.serving import serving

WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}
ASKED = ToolCall("call_w", "weather", '{"city": "Paris"}')
RAIN: Any = {"type": "function_call_output", "call_id": "call_w", "output": "rain"}


class Primes(BaseModel):
    """What is asked for."""

    count: int


async def test_a_text_is_answered(tmp_path: Path) -> None:
    model = ScriptedModel("Hello.")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        answer = await client.responses.create(model="terp", input="hi", instructions="Speak Greek.")
    assert (answer.status, answer.output_text, answer.model) == ("completed", "Hello.", "terp")
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (10, 5)
    assert [getattr(message, "text", "") for message in model.requests[0]] == [
        "Be brief.\n\nSpeak Greek.",
        "hi",
    ]


async def test_code_runs_after_a_yes_to_the_response_before(tmp_path: Path) -> None:
    async with serving(tmp_path, call("x"), "done") as server, openai_client(server) as client:
        first = await client.responses.create(model="terp", input="go")
        done = await client.responses.create(model="terp", input="yes", previous_response_id=first.id)
        [session] = server.opener.made
        assert isinstance(session.kernels, EchoKernel)
        assert session.kernels.ran == ["x"]
    assert first.output_text.endswith(ASKS)
    assert done.output_text == "```output\nx\n```\n\ndone"


async def test_functions_are_called_and_their_results_go_on(tmp_path: Path) -> None:
    model = ScriptedModel(["I look. ", ASKED], "It rains.")
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        first = await client.responses.create(
            model="terp", input="Paris?", tools=[WEATHER], tool_choice={"type": "function", "name": "weather"}
        )
        # As the Agents SDK goes on: with all items, and no state of the server.
        items: list[Any] = [
            {"role": "user", "content": "Paris?"},
            *(one.to_dict() for one in first.output),
            RAIN,
        ]
        done = await client.responses.create(model="terp", input=items, tools=[WEATHER])
        assert len(server.opener.made) == 1
    asked = first.output[1]
    assert isinstance(asked, ResponseFunctionToolCall)
    assert (asked.call_id, asked.name, asked.arguments) == ("call_w", "weather", '{"city": "Paris"}')
    assert (first.output_text, done.output_text) == ("I look. ", "It rains.")
    assert model.requests[1][2:] == [Assistant("I look. ", (ASKED,)), Result("call_w", "rain")]
    forced = {"tool_choice": {"type": "function", "function": {"name": "weather"}}}
    assert [demanded(tools) for tools in model.tools] == [forced, {}]


async def test_a_stream_puts_the_same_response_together(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, ["I look. ", ASKED]) as server,
        openai_client(server) as client,
        client.responses.stream(model="terp", input="Paris?", tools=[WEATHER]) as stream,
    ):
        events = [event async for event in stream]
        final = await stream.get_final_response()
    kinds = [event.type.removeprefix("response.") for event in events]
    assert [kind for at, kind in enumerate(kinds) if kind != kinds[at - 1]] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert [one.type for one in final.output] == ["message", "function_call"]
    assert (
        "".join(event.delta for event in events if event.type == "response.output_text.delta") == "I look. "
    )


async def test_an_answer_has_the_form_of_a_class(tmp_path: Path) -> None:
    model = ScriptedModel('{"count": 168}')
    async with serving(tmp_path, model=lambda: model) as server, openai_client(server) as client:
        answer = await client.responses.parse(model="terp", input="Primes?", text_format=Primes)
    assert answer.output_parsed == Primes(count=168)
    form = demanded(model.tools[0])["response_format"]
    assert (form["type"], form["json_schema"]["name"]) == ("json_schema", "Primes")


async def test_a_failure_in_the_middle_is_an_event(tmp_path: Path) -> None:
    replies = call("x"), RateLimited("Slow down.")
    async with serving(tmp_path, *replies) as server, openai_client(server) as client:
        first = await client.responses.create(model="terp", input="go")
        stream = await client.responses.create(
            model="terp", input="yes", previous_response_id=first.id, stream=True
        )
        last = [event async for event in stream][-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert last.response.error.message == "Slow down."


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"tools": [{"type": "web_search"}]}, 400),
        ({"background": True}, 400),
        ({"input": [{"type": "computer_call"}]}, 400),
        ({"input": [{"type": "function_call"}]}, 400),
        ({"input": [{"role": "wizard", "content": "a"}]}, 400),
        ({"input": [{"role": "user", "content": [3]}]}, 400),
        ({"input": 3}, 422),
        ({"previous_response_id": "resp_none"}, 404),
    ],
)
async def test_what_cannot_be_done_is_refused(tmp_path: Path, options: dict[str, Any], status: int) -> None:
    async with serving(tmp_path, "never said") as server, openai_client(server) as client:
        with pytest.raises(openai.APIStatusError) as raised:
            await client.responses.create(**{"model": "terp", "input": "a", **options})
    assert raised.value.status_code == status
