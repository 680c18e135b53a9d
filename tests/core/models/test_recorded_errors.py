"""Recorded error bodies: every one ends as the right class, through both adapters."""

from typing import Any

import pytest

from terp.errors import ModelError
from tests.core.models.recorded import INDEX, ROOT, ask
from tests.loopback import Http

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
