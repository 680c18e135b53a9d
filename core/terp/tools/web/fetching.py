"""Fetch a page of the web as text, after consent if its address is private."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit, urlunsplit

from terp import __version__
from terp.errors import TerpError
from terp.text.addresses import Destination, destination_of
from terp.text.dataclasses import dataclass

if TYPE_CHECKING:
    import httpx

LARGEST_BYTES = 5_000_000
LONGEST_S = 30.0
_REDIRECTS = 5
_TEXTS = ("application/json", "application/xml", "application/javascript", "application/yaml")


class FetchFailed(TerpError):
    """A page cannot be fetched, or is not text."""


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page: URL after redirects, MIME type, charset ("" if not declared) and body."""

    url: str
    kind: str
    encoding: str
    body: bytes


async def fetch(url: str, allow: Callable[[Destination], Awaitable[bool]]) -> Page:
    """Fetch the page at `url` by http or https, after at most five redirects.

    `allow` is awaited once for each private address.

    Raises:
        FetchFailed: it is not there, too large, not text, took too long, or was not allowed.
        BadAddress: the URL, or one that it redirects to, is not valid.
    """
    allowed: set[Destination] = set()
    for _ in range(_REDIRECTS + 1):
        to = await destination_of(url)
        if to.private and to not in allowed:
            if not await allow(to):
                raise FetchFailed(f"{to.host} is a private address, and fetching from it was not allowed.")
            allowed.add(to)
        try:
            async with asyncio.timeout(LONGEST_S):
                found = await _requested(url, to)
        except TimeoutError as error:
            raise FetchFailed(f"{url[:200]} took longer than {LONGEST_S:g} s.") from error
        if isinstance(found, Page):
            return found
        url = urljoin(url, found)
    raise FetchFailed(f"{url[:200]} redirects more than {_REDIRECTS} times.")


async def _requested(url: str, to: Destination) -> Page | str:
    """Return the page, or the URL that it redirects to."""
    import httpx  # noqa: PLC0415  (few sessions fetch)

    # Connect to the addresses that were checked: a second DNS answer may differ (DNS rebinding).
    failed: Exception | None = None
    async with httpx.AsyncClient(trust_env=not to.ips) as client:
        for ip in to.ips or ("",):
            try:
                return await _answered(client, url, _request(client, url, to, ip))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failed = error
            except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
                failed = error
                break
    raise FetchFailed(f"{url[:200]} cannot be fetched: {str(failed) or type(failed).__name__}.") from failed


async def _answered(client: "httpx.AsyncClient", url: str, request: "httpx.Request") -> Page | str:
    answer = await client.send(request, stream=True)
    try:
        return answer.headers["location"] if answer.has_redirect_location else await _page(url, answer)
    finally:
        await answer.aclose()


def _request(client: "httpx.AsyncClient", url: str, to: Destination, ip: str) -> "httpx.Request":
    headers = {
        "User-Agent": f"terp/{__version__}",
        "Accept": "text/html, text/*, application/json, */*;q=0.5",
    }
    if not ip:
        return client.build_request("GET", url, headers=headers)
    parts = urlsplit(url)
    at = f"[{ip}]" if ":" in ip else ip
    pinned = urlunsplit((parts.scheme, f"{at}:{to.port}", parts.path, parts.query, ""))
    named = {**headers, "Host": parts.netloc.rpartition("@")[2]}
    return client.build_request("GET", pinned, headers=named, extensions={"sni_hostname": to.host})


async def _page(url: str, answer: "httpx.Response") -> Page:
    if answer.status_code != 200:
        raise FetchFailed(
            f"{url[:200]} answered {answer.status_code} {answer.reason_phrase}.".replace(" .", ".")
        )
    kind = answer.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    if not kind.startswith("text/") and kind not in _TEXTS and not kind.endswith(("+xml", "+json")):
        raise FetchFailed(f"{url[:200]} is {kind}, no text; download it with code.")
    body = bytearray()
    async with aclosing(_pieces(answer)) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > LARGEST_BYTES:
                raise FetchFailed(f"{url[:200]} is larger than {LARGEST_BYTES // 1_000_000} MB.")
    return Page(url, kind, answer.charset_encoding or "", bytes(body))


async def _pieces(answer: "httpx.Response") -> AsyncGenerator[bytes, None]:
    async for piece in answer.aiter_bytes():
        yield piece
