"""Pages as text for a model."""

from terp.tools.web.fetching import Page
from terp.tools.web.readable_page import readable_page


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
