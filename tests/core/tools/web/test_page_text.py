"""Pages that were written to be hard to read."""

import pytest

from terp.tools.web.fetching import FetchFailed, Page
from terp.tools.web.page_text import readable_page, text_of


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


def text(html: str, *, encoding: str = "utf-8") -> str:
    return readable_page(Page("http://a/b/c", "text/html", encoding, html.encode(encoding or "utf-8")))


def test_html_becomes_markdown_with_its_title_and_whole_links() -> None:
    html = """<html><head><title>A page</title><style>x</style></head><body><nav>Menu</nav>
    <h1>Head</h1><p>Some <b>bold</b> text, <a href="d">a link</a>.</p><ul><li>one</li><li>two</li></ul>
    <table><tr><th>a</th></tr><tr><td>1</td></tr></table><script>alert(1)</script>
    <footer>Foot</footer></body></html>"""
    head = "# A page\n\n# Head\n\nSome **bold** text, [a link](http://a/b/d)."
    assert text(html) == f"{head}\n\n- one\n- two\n\n| a |\n| --- |\n| 1 |"


def test_the_main_part_is_taken_where_the_page_names_it() -> None:
    html = f"<body><div>Around</div><main><p>{'It says. ' * 40}</p></main></body>"
    assert "Around" not in text(html)


def test_a_main_part_that_is_nearly_empty_is_not_the_page() -> None:
    assert "All of it" in text("<body><p>All of it</p><main>Loading</main></body>")


def test_the_encoding_that_was_told_is_used_and_an_unknown_one_is_not() -> None:
    assert text("<p>grün</p>", encoding="latin-1") == "grün"
    page = Page("http://a", "text/plain", "no-such-code", "grün".encode())
    assert readable_page(page) == "grün"


def test_other_text_is_as_it_is() -> None:
    assert readable_page(Page("http://a", "application/json", "", b'{"a": 1}\n')) == '{"a": 1}'
