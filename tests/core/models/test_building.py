"""From settings to a model, as far as that is a choice."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from terp.errors import NoModel
from terp.models.building import build_model
from terp.settings import Settings
from terp.testing import ScriptedPerson
from tests.loopback import Loopback

TAGS = {"/api/tags": {"models": [{"model": "qwen3:8b"}]}}


def beside(server: Loopback, **more: str) -> dict[str, str]:
    """Surroundings in which an Ollama answers where `server` listens."""
    return {"OLLAMA_HOST": urlsplit(server.url).netloc, **more}


async def test_a_local_server_is_used_when_the_person_wants_it() -> None:
    with Loopback([], pages=TAGS) as server:
        model = await build_model(
            Settings(), ["python"], cwd="/", environ=beside(server), person=ScriptedPerson(True)
        )
    assert model.name == "ollama/qwen3:8b"


async def test_a_local_server_that_nobody_consents_to_is_named_with_the_flag() -> None:
    with Loopback([], pages=TAGS) as server, pytest.raises(NoModel) as refused:
        await build_model(Settings(), ["python"], cwd="/", environ=beside(server))
    address = server.url.removesuffix("/v1")
    assert (refused.value.message, refused.value.remedy) == (
        f"No model is configured; Ollama answers at {address} with ollama/qwen3:8b.",
        "Use it with --model ollama/qwen3:8b.",
    )


async def test_a_key_picks_a_model_and_asks_nobody() -> None:
    with Loopback([], pages=TAGS) as server:
        model = await build_model(
            Settings(), ["python"], cwd="/", environ=beside(server, OPENAI_API_KEY="x" * 20)
        )
    assert model.name.startswith("openai/")


async def test_who_looks_on_this_machine_alone_is_not_asked_and_no_key_counts() -> None:
    settings = Settings(discover="local")
    with Loopback([], pages=TAGS) as server:
        environ = beside(server, OPENAI_API_KEY="x" * 20)
        model = await build_model(settings, ["python"], cwd="/", environ=environ)
    assert model.name == "ollama/qwen3:8b"


async def test_where_nothing_answers_on_this_machine_no_key_stands_in() -> None:
    with Loopback([]) as server:
        environ = beside(server, OPENAI_API_KEY="x" * 20)
        with pytest.raises(NoModel, match="No server with a model answers on this machine"):
            await build_model(Settings(discover="local"), ["python"], cwd="/", environ=environ)


async def test_a_replay_needs_no_model(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text('{"request": null, "reply": [{"text": "hi"}]}\n')
    settings = Settings(replay=str(file), replay_mode="sequence")
    assert (await build_model(settings, ["python"], cwd="/", environ={})).name == "recorded"
