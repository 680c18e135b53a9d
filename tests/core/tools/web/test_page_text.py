"""Pages that were written to be hard to read."""

import pytest

from terp.tools.web.fetching import FetchFailed, Page
from terp.tools.web.page_text import text_of


def html(body: bytes) -> Page:
    return Page("http://page", "text/html", "", body)


async def test_a_page_becomes_text() -> None:
    assert await text_of(html("<h1>Größe</h1><p>a <a href='/b'>b</a>".encode())) == (
        "# Größe\n\na [b](http://page/b)"
    )


async def test_a_page_that_takes_for_ever_is_given_up() -> None:
    # Python's parser looks for the end of each comment in all that follows.
    with pytest.raises(FetchFailed, match=r"http://page takes longer than 2 s to be made text\."):
        await text_of(html(b"<!--" * 300_000), longest_s=2)


async def test_a_page_that_is_nested_too_deeply_is_told() -> None:
    with pytest.raises(FetchFailed, match="http://page cannot be made text: its HTML is nested too deeply"):
        await text_of(html(b"<div>" * 3_000))
