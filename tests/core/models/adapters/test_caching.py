"""What providers find again of the last request, and what they are told to keep of this one."""

import json
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from terp.events.messages import Assistant, Image, Message, Result, System, User
from terp.events.model import Model, Usage
from terp.models.adapters.accumulator import used
from terp.models.adapters.chat_format import cache_points, chat_messages, with_cache_points
from terp.models.adapters.litellm_adapter import LiteLLM
from terp.models.adapters.routing import route
from terp.models.building import open_adapter
from terp.models.facts.model_facts import PriceList
from terp.models.repair.fences import TextFallback
from terp.person import AutoRun
from terp.session.session import Session
from terp.settings.model_settings import ModelOptions
from terp.testing import EchoKernel, call, collect
from tests.core.models.recorded import ROOT, TOOL
from tests.core.models.recorded import collect as received
from tests.loopback import Call, Loopback, Raw

pytestmark = pytest.mark.xdist_group("litellm")

MARK = {"type": "ephemeral"}
# It wrote 17 269 tokens into the cache.
WRITES = Raw((ROOT / "anthropic/claude-haiku-4-5-20251001__text__91fc64.sse").read_bytes())
STEP: list[Message] = [
    System("be brief"),
    User("hi"),
    Assistant("", (call("1", id="a"), call("2", id="b"))),
    Result("a", "x"),
    Result("b", "y", (Image("image/png", "iVBORw0K"),)),
]


def test_the_ends_of_the_last_request_and_of_this_one_are_marked() -> None:
    assert cache_points(chat_messages(STEP)) == [0, 1, 4]
    assert cache_points(chat_messages(STEP[:2])) == [0, 1]
    assert cache_points(chat_messages(STEP[1:2])) == [0]
    assert cache_points([]) == []


def test_a_mark_stands_in_a_part_of_the_content_that_is_text() -> None:
    sent = with_cache_points(chat_messages(STEP, vision=True))
    assert sent[0]["content"] == [{"type": "text", "text": "be brief", "cache_control": MARK}]
    assert sent[3]["content"] == "x"
    text, picture = sent[-1]["content"]
    assert text["cache_control"] == MARK
    assert picture["type"] == "image_url"


async def requests(model: str, *replies: Any, **options: Any) -> list[dict[str, Any]]:
    """What a provider is sent when it is asked for the reply to `STEP`."""
    with Loopback([*replies]) as server:
        asked = open_adapter(ModelOptions(model, api_base=server.url, api_key="k", **options), environ={})
        for _ in replies:
            await received(asked.stream(STEP, [TOOL]))
        await asked.aclose()
        return server.requests


async def test_claude_is_told_to_cache_the_prompt_the_last_request_and_this_one() -> None:
    (sent,) = await requests("anthropic/claude-x", WRITES)
    blocks = [*sent["system"], *(block for message in sent["messages"] for block in message["content"])]
    assert [block.get("cache_control") for block in blocks] == [MARK, MARK, None, None, None, MARK]


async def test_claude_behind_openrouter_is_told_so_too_and_others_are_not() -> None:
    (sent,) = await requests("openrouter/anthropic/claude-sonnet-4.5", ["ok"])
    assert json.dumps(sent).count("cache_control") == 3
    (sent,) = await requests("openrouter/openai/gpt-5", ["ok"])
    assert "cache_control" not in json.dumps(sent)


async def sent_in_a_session(model: Model, folder: Path, server: Loopback) -> list[dict[str, Any]]:
    session = Session(model, EchoKernel(), AutoRun(), folder=folder, system="You run code.")
    async with aclosing(session):
        await collect(session, "first")
        session.note("[The person ran 2 + 2: 4]")
        await collect(session, "second")
        await collect(session, "third")
    return server.requests


@pytest.mark.parametrize("fenced", [False, True])
async def test_a_request_begins_with_every_byte_of_the_one_before(tmp_path: Path, *, fenced: bool) -> None:
    code = ["Look:\n```python\n1 + 1\n```"] if fenced else [Call(code="1 + 1")]
    with Loopback([code, ["one"], ["two"], code, ["three"]]) as server:
        direct = open_adapter(ModelOptions("openai/m", api_base=server.url), environ={})
        wrapped = TextFallback(direct, ["python"], fenced=fenced)
        sent = await sent_in_a_session(wrapped, tmp_path, server)
    assert len(sent) == 5
    for before, after in pairwise(sent):
        told, tells = json.dumps(before["messages"]), json.dumps(after["messages"])
        assert tells.startswith(told.removesuffix("]"))
        assert json.dumps(before.get("tools")) == json.dumps(after.get("tools"))


async def test_what_is_written_to_a_cache_costs_its_own_price() -> None:
    options = ModelOptions("anthropic/claude-haiku-4-5", api_key="k")
    with Loopback([WRITES]) as server:
        reached = replace(route(options, {}), api_base=server.url)
        model = LiteLLM(reached, options)
        (usage,) = [one for one in await received(model.stream(STEP, [TOOL])) if isinstance(one, Usage)]
        await model.aclose()
    assert (usage.input_tokens, usage.cached_tokens) == (2_254 + 17_269, 0)
    assert usage.cost_usd == pytest.approx(2_254 * 1e-6 + 17_269 * 1.25e-6 + usage.output_tokens * 5e-6)


def test_what_comes_from_a_cache_costs_a_tenth_and_is_part_of_the_input() -> None:
    facts = PriceList().facts("claude-haiku-4-5")
    told = {
        "prompt_tokens": 10_000,
        "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 8_000},
        "cache_creation_input_tokens": 1_500,
    }
    usage = used(told, facts.cost_usd)
    assert (usage.input_tokens, usage.cached_tokens) == (10_000, 8_000)
    assert usage.cost_usd == pytest.approx(500 * 1e-6 + 8_000 * 1e-7 + 1_500 * 1.25e-6 + 100 * 5e-6)


def test_what_is_told_beside_the_input_is_added_to_it() -> None:
    told = {
        "prompt_tokens": 377,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 515},
    }
    assert used(told, lambda *_: None).input_tokens == 377 + 515
