"""What the adapter asks of litellm, and keeps it from."""

import asyncio
import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from terp.errors import RateLimited, RequestRejected, ToolsRejected, Unavailable
from terp.events.messages import Message, System, User
from terp.events.model import Replied, TextChunk
from terp.models.adapters.litellm_adapter import preload
from terp.models.building import open_adapter
from terp.settings.model_settings import ModelOptions
from tests.core.models.recorded import ASKED, ROOT, TOOL, collect
from tests.loopback import Http, Loopback, Raw, Stalled

CLAUDE = Raw((ROOT / "anthropic/claude-3-5-sonnet-20241022__tools2-text__ecc8f3.sse").read_bytes())
# Run in a process of its own: only there is litellm not imported yet. Names with "llama-3" are the ones
# for which it would fetch a tokenizer.
ALONE = """
import asyncio, os, sys
seen = []
def watch(event, args):
    if event == "socket.getaddrinfo":
        seen.append(args[0])
    elif event == "socket.connect":
        seen.append(args[1][0])
sys.addaudithook(watch)
from terp.events.messages import User
from terp.models.adapters.litellm_adapter import preload
from terp.models.building import open_adapter
from terp.settings.model_settings import ModelOptions
async def main():
    options = ModelOptions("openai/llama-3-70b", adapter="litellm", api_base=sys.argv[1])
    model = open_adapter(options, environ={})
    async for _ in model.stream([User("hi")]):
        pass
    await model.aclose()
preload()
asyncio.run(main())
print(sorted({str(host) for host in seen}), os.environ.get("FROM_DOTENV"))
"""


def test_litellm_looks_up_nobody_else_reads_no_env_file_and_says_nothing(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_DOTENV=read\n")
    paths = os.pathsep.join([*filter(None, sys.path), str(Path(__file__).parents[4] / "core")])
    with Loopback(["hello"]) as server:
        ran = subprocess.run(
            [sys.executable, "-c", ALONE, server.url],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("['127.0.0.1'] None\n", "", 0)


async def test_a_provider_that_nobody_knows_is_one_readable_sentence() -> None:
    model = open_adapter(ModelOptions("opnai/gpt-x"), environ={})
    with pytest.raises(RequestRejected) as error:
        await collect(model.stream(ASKED))
    await model.aclose()
    assert error.value.message == "opnai/gpt-x: no provider of that name is known."


async def test_claude_is_given_a_length_and_told_what_to_cache() -> None:
    with Loopback([CLAUDE]) as server:
        model = open_adapter(ModelOptions("anthropic/claude-x", api_base=server.url, api_key="k"), environ={})
        await collect(model.stream(ASKED, [TOOL]))
        await model.aclose()
    (request,) = server.requests
    assert request["max_tokens"] == 8192
    assert request["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert request["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert [tool["name"] for tool in request["tools"]] == ["execute"]


async def test_tools_are_never_dropped_without_a_word() -> None:
    model = open_adapter(ModelOptions("perplexity/sonar", adapter="litellm", api_key="k"), environ={})
    with pytest.raises(ToolsRejected):
        await collect(model.stream(ASKED, [TOOL]))


async def test_a_request_is_sent_once_and_the_wait_asked_for_is_known() -> None:
    with Loopback([Http(429, headers={"Retry-After": "7"})] * 3) as server:
        model = open_adapter(ModelOptions("openai/m", adapter="litellm", api_base=server.url), environ={})
        with pytest.raises(RateLimited) as caught:
            await collect(model.stream(ASKED))
        await model.aclose()
    assert (len(server.requests), caught.value.retry_after_s) == (1, 7.0)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama_chat"])
async def test_a_stalled_stream_ends_at_the_timeout(provider: str) -> None:
    with Loopback([Stalled(2)] * 2) as server:
        options = ModelOptions(
            f"{provider}/m", adapter="litellm", api_base=server.url, api_key="k", timeout_s=0.3
        )
        model = open_adapter(options, environ={})
        with pytest.raises(Unavailable, match=r"no data arrived for 0\.3 s"):
            await collect(model.stream(ASKED))
        await model.aclose()


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama_chat"])
async def test_a_request_that_is_given_up_while_it_is_made_leaves_nothing_behind(provider: str) -> None:
    await asyncio.to_thread(preload)
    with Loopback([Stalled()]) as server:
        options = ModelOptions(
            f"{provider}/m", adapter="litellm", api_base=server.url, api_key="k", timeout_s=1e-6
        )
        model = open_adapter(options, environ={})
        with pytest.raises(Unavailable, match="no data arrived for"):
            await collect(model.stream(ASKED))
        await model.aclose()
    # A coroutine that nobody awaited complains when it is collected.
    gc.collect()


async def test_nothing_listening_is_unavailable() -> None:
    with Loopback([]) as server:
        address = server.url
    model = open_adapter(ModelOptions("openai/m", adapter="litellm", api_base=address), environ={})
    with pytest.raises(Unavailable):
        await collect(model.stream(ASKED))
    await model.aclose()


def test_closing_the_last_adapter_closes_the_connections() -> None:
    async def ask(url: str) -> None:
        model = open_adapter(ModelOptions("openai/m", adapter="litellm", api_base=url), environ={})
        await collect(model.stream(ASKED))
        await model.aclose()

    with Loopback(["one"]) as server:
        asyncio.run(ask(server.url))
        port = urlsplit(server.url).port
        open_ones = psutil.Process().net_connections("tcp")
        assert [one for one in open_ones if one.raddr and one.raddr.port == port] == []


async def test_closing_one_adapter_leaves_the_connections_of_another() -> None:
    with Loopback(["one", "two", "three"]) as server:
        options = ModelOptions("openai/m", adapter="litellm", api_base=server.url)
        first, second = open_adapter(options, environ={}), open_adapter(options, environ={})
        await collect(first.stream(ASKED))
        chunks = second.stream(ASKED)
        assert await anext(chunks) == TextChunk("two")
        await first.aclose()
        assert isinstance((await collect(chunks))[-1], Replied)
        await collect(second.stream(ASKED))
        await second.aclose()
        await second.aclose()


async def test_code_with_many_equal_lines_is_no_error() -> None:
    lines = ["    \n"] * 300
    with Loopback(["".join(lines)], chunk=5) as server:
        model = open_adapter(ModelOptions("openai/m", adapter="litellm", api_base=server.url), environ={})
        replied = (await collect(model.stream(ASKED)))[-1]
        await model.aclose()
    assert isinstance(replied, Replied)
    assert replied.message.text == "".join(lines)


async def test_signed_thinking_goes_back_as_it_came() -> None:
    recorded = ROOT / "anthropic/claude-sonnet-4-5-20250929__reason-text__acb955.sse"
    told = [
        json.loads(line[5:])["delta"]
        for line in recorded.read_text().splitlines()
        if line.startswith("data:") and "_delta" in line and "delta" in json.loads(line[5:])
    ]
    with Loopback([Raw(recorded.read_bytes()), CLAUDE]) as server:
        model = open_adapter(ModelOptions("anthropic/claude-x", api_base=server.url, api_key="k"), environ={})
        replied = (await collect(model.stream(ASKED, [TOOL])))[-1]
        assert isinstance(replied, Replied)
        again: list[Message] = [System("s"), User("hi"), replied.message, User("go on")]
        await collect(model.stream(again, [TOOL]))
        await model.aclose()
    sent = [part for part in server.requests[1]["messages"][1]["content"] if part["type"] == "thinking"]
    assert "".join(part["thinking"] for part in sent) == "".join(delta.get("thinking", "") for delta in told)
    assert [part["signature"] for part in sent] == [
        delta["signature"] for delta in told if "signature" in delta
    ]


async def test_a_second_answer_of_claude_within_the_first_is_a_failure_to_retry() -> None:
    first = (ROOT / "anthropic/claude-haiku-4-5-20251001__tool__6feab4.sse").read_bytes()
    half = first[: first.rindex(b"event: content_block_delta")]
    with Loopback([Raw(half + first)]) as server:
        model = open_adapter(ModelOptions("anthropic/claude-x", api_base=server.url, api_key="k"), environ={})
        with pytest.raises(Unavailable, match="the server began a second answer within the first"):
            await collect(model.stream(ASKED, [TOOL]))
        await model.aclose()


async def test_an_answer_of_claude_that_is_announced_twice_is_read() -> None:
    text = CLAUDE.body.decode()
    announced = text[: text.index("\n\n") + 2]
    with Loopback([Raw((announced + text).encode()), CLAUDE]) as server:
        model = open_adapter(ModelOptions("anthropic/claude-x", api_base=server.url, api_key="k"), environ={})
        twice, once = [(await collect(model.stream(ASKED, [TOOL])))[-1] for _ in range(2)]
        await model.aclose()
    assert twice == once


def test_preloading_twice_is_harmless() -> None:
    preload()
    first = sys.modules["litellm"]
    preload()
    assert sys.modules["litellm"] is first
