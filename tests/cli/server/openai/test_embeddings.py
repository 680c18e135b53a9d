"""Embeddings are passed on to the provider of the model, or refused with the status that says so."""

from functools import partial
from pathlib import Path

import openai
import pytest
from fastapi import APIRouter

from terp.models.adapters.embeddings import embeddings
from terp.settings import Settings
from terp_cli.server.openai import routes
from terp_cli.server.sessions import Sessions
from tests.cli.server.openai.asking import openai_client
from tests.cli.server.serving import Running, serving
from tests.loopback import Http, Loopback, Raw

VECTORS = b"""{"object": "list", "model": "small", "data": [{"object": "embedding", "index": 0,
"embedding": [0.5, 1.0]}], "usage": {"prompt_tokens": 2, "total_tokens": 2}}"""


def of_provider(settings: Settings, api_key: str = "", **environ: str) -> routes.Embedding:
    return partial(embeddings, settings=settings, environ=environ, api_key=api_key)


async def embedded(server: Running, model: str = "small") -> list[list[float]]:
    async with openai_client(server, max_retries=0) as client:
        answer = await client.embeddings.create(model=model, input=["a", "b"], encoding_format="float")
    return [one.embedding for one in answer.data]


async def test_they_are_those_of_the_provider(tmp_path: Path) -> None:
    with Loopback([Raw(VECTORS, content_type="application/json")]) as provider:
        settings = Settings(model="gpt-5.5", api_base=provider.url)

        def also(sessions: Sessions) -> APIRouter:
            return routes.router(sessions, embed=of_provider(settings, "a-key", HOME=str(tmp_path)))

        async with serving(tmp_path, also=also) as server:
            assert await embedded(server) == [[0.5, 1.0]]
        assert provider.requests == [{"input": ["a", "b"], "model": "small", "encoding_format": "float"}]
        assert provider.paths == ["/v1/embeddings"]
        assert provider.headers[0]["Authorization"] == "Bearer a-key"


async def test_a_failure_of_the_provider_has_its_status(tmp_path: Path) -> None:
    with Loopback([Http(404), Http(401)]) as provider:
        settings = Settings(model="gpt-5.5", api_base=provider.url)

        def also(sessions: Sessions) -> APIRouter:
            return routes.router(sessions, embed=of_provider(settings, "a-key", HOME=str(tmp_path)))

        async with serving(tmp_path, also=also) as server:
            with pytest.raises(openai.NotFoundError, match="scripted"):
                await embedded(server)
            # The key is the server's.
            with pytest.raises(openai.InternalServerError) as raised:
                await embedded(server)
    assert raised.value.status_code == 502


@pytest.mark.parametrize("embed", [None, of_provider(Settings(model="anthropic/claude-5"))])
async def test_where_there_are_none_the_status_says_so(
    tmp_path: Path, embed: routes.Embedding | None
) -> None:
    def also(sessions: Sessions) -> APIRouter:
        return routes.router(sessions, embed=embed)

    async with serving(tmp_path, also=also) as server:
        with pytest.raises(openai.InternalServerError) as raised:
            await embedded(server, "voyage")
    assert raised.value.status_code == 501


async def test_an_embedding_model_has_to_be_named(tmp_path: Path) -> None:
    def also(sessions: Sessions) -> APIRouter:
        return routes.router(sessions, embed=of_provider(Settings(model="gpt-5.5")))

    async with serving(tmp_path, also=also) as server:
        with pytest.raises(openai.BadRequestError, match="'terp' embeds nothing"):
            await embedded(server, "terp")
