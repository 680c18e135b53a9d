"""A page as text for a model: what it says, as Markdown, without what is around it."""

import codecs
import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from terp.tools.web.fetching import Page

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_NOT_SAID = ("script", "style", "noscript", "template", "svg", "iframe", "nav", "footer", "aside", "button")
_MANY_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")
# A main part with less text than this is a frame that a script would fill.
_LEAST = 200


def readable_page(page: Page) -> str:
    """The text of a page. HTML becomes Markdown, its links absolute; anything else is as it is.

    Takes about a second for a megabyte of HTML.
    """
    if page.kind not in ("text/html", "application/xhtml+xml"):
        return page.body.decode(_known(page.encoding) or "utf-8", "replace").strip()
    from bs4 import BeautifulSoup  # noqa: PLC0415  (few sessions fetch)
    from markdownify import MarkdownConverter  # noqa: PLC0415

    soup = BeautifulSoup(page.body, "html.parser", from_encoding=_known(page.encoding) or None)
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    for unsaid in soup.find_all(("head", *_NOT_SAID)):
        unsaid.decompose()
    _with_whole_links(soup, page.url)
    text = MarkdownConverter(heading_style="ATX", strip=["img"], bullets="-").convert_soup(_main(soup))
    text = _MANY_BLANK_LINES.sub("\n\n", str(text)).strip()
    return f"# {title}\n\n{text}" if title and title not in text[:500] else text


def _main(soup: "BeautifulSoup") -> "BeautifulSoup | Tag":
    """The part of a page that it is about, where the page says which that is."""
    marked = [*soup.find_all("main"), *soup.find_all(role="main")] or soup.find_all("article")
    longest = max(marked, key=lambda part: len(part.get_text()), default=None)
    return longest if longest is not None and len(longest.get_text(strip=True)) >= _LEAST else soup


def _with_whole_links(soup: "BeautifulSoup", url: str) -> None:
    for link in soup.find_all("a", href=True):
        try:
            link["href"] = urljoin(url, str(link["href"]))
        except ValueError:
            del link["href"]


def _known(encoding: str) -> str:
    """An encoding that Python has, else ""."""
    try:
        return codecs.lookup(encoding).name if encoding else ""
    except LookupError:
        return ""
