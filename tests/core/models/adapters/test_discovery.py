"""Finding a model for somebody who configured none."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from terp.errors import NoModel
from terp.models.adapters.discovery import (
    DEFAULT_MODELS,
    FoundModel,
    LocalServer,
    find_model,
    keyed_models,
    listed_models,
    local_servers,
    running_models,
)
from terp.models.facts.model_facts import PriceList
from terp.settings.model_settings import ModelOptions
from tests.loopback import Loopback


@asynccontextmanager
async def serving(server: LocalServer, body: Any, status: int = 200) -> AsyncIterator[LocalServer]:
    """`server` on a free port of loopback, answering every request with `body`."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    answer = f"HTTP/1.0 {status} X\r\n\r\n{json.dumps(body)}".encode()

    async def handle(client: anyio.abc.SocketStream) -> None:
        async with client:
            await client.receive()
            await client.send(answer)

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, handle)
        yield LocalServer(
            server.name, server.provider, f"http://127.0.0.1:{port}", server.path, server.models
        )
        tasks.cancel_scope.cancel()


SERVERS = {server.name: server for server in local_servers({})}
ANSWERS = {
    "Ollama": {"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]},
    "LM Studio": {"models": [{"type": "embedding", "key": "e"}, {"type": "llm", "key": "qwen/qwen3"}]},
    "llama.cpp": {"data": [{"id": "m.gguf", "owned_by": "llamacpp"}]},
    "llamafile": {"data": [{"id": "l", "owned_by": "llamafile"}]},
    "vLLM": {"data": [{"id": "meta/llama", "owned_by": "vllm"}]},
    "Jan": {"data": [{"id": "jan-v1"}]},
}
NAMES = [
    "ollama/qwen3:8b",
    "lm_studio/qwen/qwen3",
    "llamacpp/m.gguf",
    "llamafile/l",
    "hosted_vllm/meta/llama",
    "jan/jan-v1",
]


@pytest.mark.parametrize(("kind", "model"), list(zip(ANSWERS, NAMES, strict=True)))
async def test_a_local_server_is_known_by_its_answer(kind: str, model: str) -> None:
    async with serving(SERVERS[kind], ANSWERS[kind]) as server:
        (found,) = await running_models([server], budget_s=10)
    assert found == FoundModel(
        model, f"{kind} answers at {server.address}", f"{server.address}/v1", local=True
    )


@pytest.mark.parametrize("kind", ["Ollama", "LM Studio", "llama.cpp", "vLLM"])
@pytest.mark.parametrize("body", [[], {}, {"data": [{"id": "x", "owned_by": "me"}]}, "hello", {"models": 1}])
async def test_another_server_on_a_usual_port_is_not_taken_for_it(kind: str, body: Any) -> None:
    async with serving(SERVERS[kind], body) as server:
        assert await running_models([server], budget_s=10) == []


async def test_a_server_that_refuses_is_not_offered() -> None:
    async with serving(SERVERS["Jan"], ANSWERS["Jan"], status=401) as server:
        assert await running_models([server], budget_s=10) == []


async def test_the_first_of_several_servers_is_taken() -> None:
    async with AsyncExitStack() as stack:
        running = [
            await stack.enter_async_context(serving(SERVERS[k], ANSWERS[k])) for k in ("vLLM", "Ollama")
        ]
        assert (await find_model({}, servers=running, budget_s=10)).model == "hosted_vllm/meta/llama"


async def test_a_key_goes_before_a_server() -> None:
    async with serving(SERVERS["Ollama"], ANSWERS["Ollama"]) as server:
        found = await find_model({"GEMINI_API_KEY": "x"}, servers=[server])
    assert found == FoundModel("gemini/gemini-pro-latest", "GEMINI_API_KEY is set")


async def test_with_nothing_one_screen_says_what_to_do() -> None:
    with pytest.raises(NoModel) as caught:
        await find_model({}, servers=[])
    lines = str(caught.value).splitlines()
    assert "terp demo" in lines[-1]
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80


def test_keys_are_looked_at_in_order() -> None:
    found, *_ = keyed_models({"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "y", "GEMINI_API_KEY": " "})
    assert found is not None
    assert found.why == "ANTHROPIC_API_KEY is set"


def test_every_default_model_is_in_the_price_list_and_calls_tools() -> None:
    listed = PriceList()
    entries = {
        provider: listed.entry(f"{provider}/{model}") or listed.entry(model)
        for provider, model in DEFAULT_MODELS
        if provider != "openrouter"
    }
    assert {p: bool(e and e.get("supports_function_calling")) for p, e in entries.items()} == dict.fromkeys(
        entries, True
    )


def test_a_remote_ollama_is_not_asked() -> None:
    assert "Ollama" not in [server.name for server in local_servers({"OLLAMA_HOST": "gpu.example:11434"})]


async def test_the_provider_of_the_model_is_asked_for_its_list(tmp_path: Path) -> None:
    with Loopback([], pages={"/v1/models": {"data": [{"id": "one"}, {"id": "two"}]}}) as server:
        options = ModelOptions(model="openai/x", api_base=server.url, api_key="unused")
        listed = await listed_models(options, "openai/x", {"HOME": str(tmp_path)})
    named = [FoundModel(f"openai/{name}", "listed by openai") for name in ("one", "two")]
    # Behind them stand those of servers that run on this machine.
    assert listed[:2] == named
