"""Searching the web with each provider, on loopback."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from terp.settings import Settings
from terp.tools.web.searching import SearchFailed, provider_for, search
from tests.core.tools.pages import Page, Web, hanging_up

FOUND = {"title": "A  title", "url": "http://a", "content": "It\nsays", "description": "It\nsays", "score": 1}
READ = [{"title": "A title", "url": "http://a", "snippet": "It says"}]
KEYS = {"BRAVE_API_KEY": "secret-b", "TAVILY_API_KEY": "secret-t"}


def pages(answer: Any, status: int = 200) -> dict[str, Page]:
    page = Page(json.dumps(answer).encode(), "application/json", status)
    return {"/search": page, "/res/v1/web/search": page}


async def found(web: Web, provider: str) -> Any:
    settings = Settings(search_provider=provider, search_url=web.url + "/")
    return await search(provider_for(settings, KEYS), "what & where", 2)


@pytest.mark.parametrize(
    ("provider", "answer"),
    [
        ("searxng", {"results": [FOUND]}),
        ("brave", {"web": {"results": [FOUND]}}),
        ("tavily", {"results": [FOUND]}),
    ],
)
async def test_results_have_title_url_and_snippet(provider: str, answer: Any) -> None:
    with Web(pages(answer)) as web:
        assert await found(web, provider) == READ


async def test_searxng_is_asked_for_json() -> None:
    with Web(pages({"results": [FOUND] * 3})) as web:
        assert len(await found(web, "searxng")) == 2
    assert parse_qs(urlsplit(web.asked[0][1]).query) == {"q": ["what & where"], "format": ["json"]}


async def test_brave_gets_its_key_in_a_header() -> None:
    with Web(pages({})) as web:
        assert await found(web, "brave") == []
    _, path, headers, _ = web.asked[0]
    assert headers["X-Subscription-Token"] == "secret-b"
    assert "secret" not in path


async def test_tavily_gets_its_key_in_a_header_and_the_query_as_json() -> None:
    with Web(pages({})) as web:
        await found(web, "tavily")
    method, _, headers, body = web.asked[0]
    assert (method, headers["Authorization"]) == ("POST", "Bearer secret-t")
    assert json.loads(body) == {"query": "what & where", "max_results": 2}


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (Page(status=500), "search_web: searxng answered 500."),
        (
            Page(status=403),
            "search_web: searxng answered 403. "
            "It returns JSON only if search.formats in its settings.yml contains `json`.",
        ),
        (Page(b"<html>"), "search_web: searxng did not answer with JSON."),
    ],
)
async def test_a_provider_that_fails_is_named(page: Page, told: str) -> None:
    with Web({"/search": page}) as web, pytest.raises(SearchFailed) as failed:
        await found(web, "searxng")
    assert failed.value.message == told


async def test_a_provider_that_is_not_there_is_named() -> None:
    with Web({}) as web:
        pass
    with pytest.raises(SearchFailed, match=r"search_web: searxng cannot be reached: .+"):
        await found(web, "searxng")


async def test_a_server_that_hangs_up_is_told_in_words() -> None:
    async with hanging_up() as url:
        on = provider_for(Settings(search_provider="searxng", search_url=url), {})
        with pytest.raises(SearchFailed) as failed:
            await search(on, "what", 1)
    assert failed.value.message == "search_web: searxng cannot be reached: ReadError."
