"""Recorded error bodies: every one ends as the right class, through both adapters."""

import json
from typing import Any

import pytest

from terp.errors import ModelError
from terp.models.adapters.failures import Target, classify
from tests.core.models.recorded import INDEX, ROOT, ask, outcome
from tests.loopback import Http, Raw

ERRORS = INDEX["errors"]
EXPECTED = {
    "context": ("ContextFull", "context_full"),
    "auth": ("AuthFailed", "auth"),
    "ratelimit": ("RateLimited", "rate_limited"),
    "quota": ("RateLimited", "rate_limited"),
    "badrequest": ("RequestRejected", "rejected"),
    "notfound": ("RequestRejected", "rejected"),
}
# Bedrock's own wire is signed; what it says is served on OpenAI's.
ROUTES = {"github_copilot": "openai", "bedrock": "openai", "vertex": "gemini", "ollama": "ollama_chat"}
NOISE = ("Exception", "litellm", "b'", "{", "Traceback")


async def failure(recorded: dict[str, Any], route: str, adapter: Any) -> ModelError:
    body = (ROOT / recorded["file"]).read_text()
    with pytest.raises(ModelError) as caught:
        await ask(f"{route}/m", adapter, Http(recorded["status"], body))
    return caught.value


def named(recorded: dict[str, Any]) -> str:
    return str(recorded["file"])


@pytest.mark.parametrize("recorded", ERRORS, ids=named)
async def test_the_direct_adapter_raises_the_right_error(recorded: dict[str, Any]) -> None:
    error = await failure(recorded, "openai", "direct")
    assert (type(error).__name__, error.stop_reason) == EXPECTED[recorded["kind"]]
    assert error.status == recorded["status"]
    assert error.remedy


@pytest.mark.parametrize("recorded", ERRORS, ids=named)
async def test_litellm_raises_the_right_error(recorded: dict[str, Any]) -> None:
    route = ROUTES.get(recorded["provider"], recorded["provider"])
    error = await failure(recorded, route, "litellm")
    assert (type(error).__name__, error.stop_reason) == EXPECTED[recorded["kind"]]
    assert not [noise for noise in NOISE if noise in error.message.removeprefix(f"{route}/m: ")]


async def test_an_account_without_quota_is_not_asked_again() -> None:
    body = '{"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}'
    with pytest.raises(ModelError) as caught:
        await ask("openai/m", "direct", Http(429, body))
    assert (caught.value.stop_reason, caught.value.retryable) == ("rate_limited", False)


@pytest.mark.parametrize("said", ["'args'", "litellm.APIError: OpenAIException - "])
def test_an_error_without_words_says_what_happened(said: str) -> None:
    told = classify(Target("gemini/m", "gemini"), 0, said, streaming=True).message
    assert told.startswith("gemini/m: the answer could not be read")


async def test_a_call_of_gemini_without_arguments_is_a_call() -> None:
    part = {"functionCall": {"name": "execute"}}
    usage = {
        "promptTokenCount": 5,
        "toolUsePromptTokenCount": 3,
        "candidatesTokenCount": 2,
        "totalTokenCount": 10,
    }
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    event = json.dumps({"candidates": [candidate], "usageMetadata": usage})
    got = outcome(await ask("gemini/m", "litellm", Raw(f"data: {event}\n\n".encode())))
    assert got.calls == (("execute", {}),)
    assert [(one.input_tokens, one.output_tokens) for one in got.usage] == [(8, 2)]
