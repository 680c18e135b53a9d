"""Fetching pages from loopback, which is a private address: every one of them is asked about."""

from collections.abc import Awaitable, Callable

import pytest

from terp.text.addresses import BadAddress, Destination, destination_of
from terp.tools.web.fetching import FetchFailed, fetch
from terp.tools.web.fetching import Page as Fetched
from tests.core.tools.pages import Page, Web, hanging_up


class Asked:
    """Says yes so many times, and keeps what it was asked."""

    def __init__(self, yes: int = 100) -> None:
        self.yes = yes
        self.about: list[str] = []

    async def __call__(self, to: Destination) -> bool:
        self.about.append(to.host)
        return len(self.about) <= self.yes


async def failure(url: str, allow: Callable[[Destination], Awaitable[bool]] | None = None) -> str:
    with pytest.raises((FetchFailed, BadAddress)) as failed:
        await fetch(url, allow or Asked())
    return str(failed.value.message)


async def test_a_page_comes_with_its_kind_and_encoding() -> None:
    with Web({"/a": Page("grün".encode("latin-1"), "text/html; charset=latin-1")}) as web:
        page = await fetch(f"{web.url}/a?b=1#c", Asked())
    assert page == Fetched(f"{web.url}/a?b=1#c", "text/html", "latin-1", "grün".encode("latin-1"))
    assert web.asked[0][1] == "/a?b=1"
    assert web.asked[0][2]["Host"] == f"127.0.0.1:{web.port}"


async def test_the_name_is_sent_and_the_address_that_was_asked_about_connected_to() -> None:
    with Web({"/": Page(b"x", "text/plain")}) as web:
        await fetch(f"http://localhost:{web.port}/", Asked())
    assert web.asked[0][2]["Host"] == f"localhost:{web.port}"


async def test_a_private_address_that_is_not_allowed_is_never_connected_to() -> None:
    with Web({"/": Page(b"x")}) as web:
        told = await failure(web.url, Asked(yes=0))
    assert told == "127.0.0.1 is a private address, and fetching from it was not allowed."
    assert web.asked == []


async def test_a_redirect_to_another_private_address_is_asked_about_anew() -> None:
    asked = Asked(yes=1)
    with Web({}) as web:
        to = f"http://localhost:{web.port}/secret"
        web.pages["/"] = Page(status=302, headers={"Location": to})
        told = await failure(web.url + "/", asked)
    assert asked.about == ["127.0.0.1", "localhost"]
    assert told == "localhost is a private address, and fetching from it was not allowed."


async def test_redirects_within_a_host_are_followed_and_asked_about_once() -> None:
    asked = Asked()
    with Web({"/a": Page(status=301, headers={"Location": "b"}), "/b": Page(b"x", "text/plain")}) as web:
        page = await fetch(f"{web.url}/a", asked)
    assert (page.url, asked.about) == (f"{web.url}/b", ["127.0.0.1"])


async def test_redirects_have_an_end() -> None:
    with Web({"/": Page(status=302, headers={"Location": "/"})}) as web:
        told = await failure(web.url + "/")
    assert told == f"{web.url}/ redirects more than 5 times."


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (Page(status=404), "answered 404 Not Found."),
        (Page(b"%PDF", "application/pdf"), "is application/pdf, no text; download it with code."),
        (Page(b"x" * 5_000_001, "text/plain"), "is larger than 5 MB."),
    ],
)
async def test_what_cannot_be_read_is_told(page: Page, told: str) -> None:
    with Web({"/": page}) as web:
        assert await failure(web.url + "/") == f"{web.url}/ {told}"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("file:///etc/passwd", "'file:///etc/passwd' cannot be fetched: an address begins with http:// or https://."),
        ("ftp://a/b", "'ftp://a/b' cannot be fetched: an address begins with http:// or https://."),
        ("example.com", "'example.com' cannot be fetched: an address begins with http:// or https://."),
        ("http://[x", "'http://[x' is no address: Invalid IPv6 URL."),
        ("http://a:b/", "'http://a:b/' is no address: Port could not be cast to integer value as 'b'."),
    ],
)  # fmt: skip
async def test_only_addresses_of_the_web_are_fetched(url: str, told: str) -> None:
    assert await failure(url) == told


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "[::ffff:127.0.0.1]"),
        *("10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "[fd00::1]"),
    ],
)
async def test_addresses_of_this_machine_and_its_network_are_private(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert (await destination_of(f"http://{host}/")).private


async def test_an_address_of_the_network_at_large_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert await destination_of("http://93.184.215.14/") == Destination(
        "93.184.215.14", 80, ("93.184.215.14",), False
    )


async def test_behind_a_proxy_names_are_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with Web({"http://example.invalid/": Page(b"x", "text/plain")}) as web:
        monkeypatch.setenv("http_proxy", web.url)
        monkeypatch.setenv("no_proxy", "")
        page = await fetch("http://example.invalid/", Asked(yes=0))
        private = await destination_of("http://169.254.169.254/")
    assert page.body == b"x"
    assert private.private


async def test_a_server_that_hangs_up_is_told_in_words() -> None:
    async with hanging_up() as url:
        assert await failure(url) == f"{url} cannot be fetched: ReadError."
