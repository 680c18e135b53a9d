"""Web search: a table of providers. terp's process sends the requests, with its keys."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from terp.errors import TerpError
from terp.settings import Settings
from terp.text.dataclasses import dataclass

if TYPE_CHECKING:
    import httpx

MOST_RESULTS = 20
_TIMEOUT_S = 20.0
_LONGEST_SNIPPET = 1_000


class NoProvider(TerpError):
    """No search provider is configured; the message says what is missing."""


class SearchFailed(TerpError):
    """The provider gave no results."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A request to a provider. `fields` are query parameters, or the JSON body with `post`."""

    url: str
    fields: Mapping[str, Any]
    headers: Mapping[str, str]
    post: bool = False


@dataclass(frozen=True, slots=True)
class SearchProvider:
    """A search provider: its URL, key, request and response format.

    `key_env` names the variable that holds the key, "" if it needs none. `results` is the path to the list
    in the response, `snippet` the key of the text in a result, `refusal` a remedy after HTTP status 403.
    """

    name: str
    url: str
    key_env: str
    ask: Callable[[str, str, str, int], SearchRequest]
    results: tuple[str, ...]
    snippet: str
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Search:
    """A provider with its URL and key."""

    provider: SearchProvider
    url: str
    key: str


def provider_for(settings: Settings, environ: Mapping[str, str]) -> Search:
    """Return the configured provider, else the first that has its URL or key.

    Raises:
        NoProvider: no provider is configured, or the configured one lacks its URL or key.
    """
    if settings.search_provider:
        row = next(row for row in _PROVIDERS if row.name == settings.search_provider)
        return _ready(row, settings, environ)
    if settings.search_url:
        return _ready(_PROVIDERS[0], settings, environ)
    for row in _PROVIDERS:
        if row.key_env and environ.get(row.key_env, "").strip():
            return _ready(row, settings, environ)
    keys = " or ".join(row.key_env for row in _PROVIDERS if row.key_env)
    raise NoProvider(f"search_web has no provider: set {keys}, or search_url to a SearXNG server.")


def _ready(row: SearchProvider, settings: Settings, environ: Mapping[str, str]) -> Search:
    key = environ.get(row.key_env, "").strip() if row.key_env else ""
    if row.key_env and not key:
        raise NoProvider(f"search_web has no key: set {row.key_env}, which {row.name} needs.")
    url = (settings.search_url or row.url).rstrip("/")
    if not url:
        raise NoProvider(f"search_web has no address: set search_url to that of your {row.name} server.")
    return Search(row, url, key)


async def search(on: Search, query: str, count: int) -> list[dict[str, str]]:
    """Return at most `count` results as title, url and snippet, the best first.

    Raises:
        SearchFailed: there is no response, or none that can be parsed.
    """
    import httpx  # noqa: PLC0415  (few sessions search)

    name = on.provider.name
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S) as client:
            answer = await client.send(_request(client, on, query, count))
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise SearchFailed(
            f"search_web: {name} cannot be reached: {str(error) or type(error).__name__}."
        ) from error
    if answer.status_code != 200:
        hint = f" {on.provider.refusal}" if answer.status_code == 403 else ""
        raise SearchFailed(f"search_web: {name} answered {answer.status_code}.{hint}".rstrip())
    return [_result(one, on.provider.snippet) for one in _found(answer, on.provider)[:count]]


def _request(client: "httpx.AsyncClient", on: Search, query: str, count: int) -> "httpx.Request":
    ask = on.provider.ask(on.url, on.key, query, count)
    headers, fields = {"Accept": "application/json", **ask.headers}, dict(ask.fields)
    if ask.post:
        return client.build_request("POST", ask.url, headers=headers, json=fields)
    return client.build_request("GET", ask.url, headers=headers, params=fields)


def _found(answer: "httpx.Response", provider: SearchProvider) -> list[Mapping[str, Any]]:
    try:
        found = answer.json()
    except ValueError as error:
        raise SearchFailed(f"search_web: {provider.name} did not answer with JSON.") from error
    for key in provider.results:
        found = found.get(key, []) if isinstance(found, Mapping) else []
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _result(one: Mapping[str, Any], snippet: str) -> dict[str, str]:
    texts = {"title": one.get("title"), "url": one.get("url"), "snippet": one.get(snippet)}
    return {name: " ".join(str(text or "").split())[:_LONGEST_SNIPPET] for name, text in texts.items()}


def _ask_searxng(url: str, _: str, query: str, __: int) -> SearchRequest:
    return SearchRequest(f"{url}/search", {"q": query, "format": "json"}, {})


def _ask_brave(url: str, key: str, query: str, count: int) -> SearchRequest:
    fields = {"q": query, "count": count, "text_decorations": "false"}
    return SearchRequest(f"{url}/res/v1/web/search", fields, {"X-Subscription-Token": key})


def _ask_tavily(url: str, key: str, query: str, count: int) -> SearchRequest:
    fields = {"query": query, "max_results": count}
    return SearchRequest(f"{url}/search", fields, {"Authorization": f"Bearer {key}"}, post=True)


# https://docs.searxng.org/dev/search_api.html
# https://api-dashboard.search.brave.com/app/documentation/web-search
# https://docs.tavily.com/documentation/api-reference/endpoint/search
_PROVIDERS = (
    SearchProvider(
        "searxng",
        "",
        "",
        _ask_searxng,
        ("results",),
        "content",
        "It returns JSON only if search.formats in its settings.yml contains `json`.",
    ),
    SearchProvider(
        "brave",
        "https://api.search.brave.com",
        "BRAVE_API_KEY",
        _ask_brave,
        ("web", "results"),
        "description",
    ),
    SearchProvider(
        "tavily", "https://api.tavily.com", "TAVILY_API_KEY", _ask_tavily, ("results",), "content"
    ),
)
