"""From settings to a model, as far as that is a choice."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from terp.errors import NoModel, SettingsError, Unavailable
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


def listing(*names: str) -> dict[str, object]:
    """The page on which a server lists its models."""
    return {"/v1/models": {"object": "list", "data": [{"id": name} for name in names]}}


async def built(server: Loopback, **more: Any) -> str:
    """The name of the model where only an address is given, and keys of other providers are set."""
    environ = {"ANTHROPIC_API_KEY": "x" * 20, "OPENAI_API_KEY": "y" * 20}
    settings = Settings(api_base=server.url, **more)
    return (await build_model(settings, ["python"], cwd="/", environ=environ)).name


async def test_the_one_model_at_an_address_is_taken_whatever_keys_are_set() -> None:
    with Loopback([], pages=listing("qwen/qwen3")) as server:
        names = [await built(server), await built(server, discover="local")]
    assert (names, server.looked_at) == (["openai/qwen/qwen3"] * 2, ["/v1/models"] * 2)


async def test_of_several_models_at_an_address_one_has_to_be_named() -> None:
    with Loopback([], pages=listing("a", "b")) as server, pytest.raises(SettingsError) as refused:
        await built(server)
    assert refused.value.message == (
        f"{server.url} lists 2 models (openai/a, openai/b): name the model with -m openai/NAME."
    )


@pytest.mark.parametrize("pages", [{}, {"/v1/models": []}, {"/v1/models": {"data": []}}])
async def test_where_an_address_lists_no_models_one_has_to_be_named(pages: dict[str, object]) -> None:
    with Loopback([], pages=pages) as server, pytest.raises(SettingsError) as refused:
        await built(server)
    assert refused.value.message == f"{server.url} lists no models: name the model with -m openai/NAME."


async def test_an_address_that_does_not_answer_is_told_and_no_other_is_asked() -> None:
    with Loopback([]) as server:
        pass
    with pytest.raises(Unavailable, match=f"no connection to {server.url}"):
        await built(server)


async def test_a_replay_needs_no_model(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text('{"request": null, "reply": [{"text": "hi"}]}\n')
    settings = Settings(replay=str(file), replay_mode="sequence")
    assert (await build_model(settings, ["python"], cwd="/", environ={})).name == "recorded"
