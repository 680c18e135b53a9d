"""Convert a page to text for the model, in a separate process: HTML can be written to take hours to parse."""

import asyncio
import codecs
import json
import os
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from terp.kernels.jupyter.launch import own_argv
from terp.tools.web.fetching import FetchFailed, Page

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_REMOVED = ("script", "style", "noscript", "template", "svg", "iframe", "nav", "footer", "aside", "button")
_MANY_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")
# A main part with less text, in characters, is a frame that a script would fill.
_LEAST = 200


def readable_page(page: Page) -> str:
    """Return the text of a page: HTML as Markdown with absolute links, anything else unchanged.

    It takes about a second for a megabyte of HTML.
    """
    if page.kind not in ("text/html", "application/xhtml+xml"):
        return page.body.decode(_known(page.encoding) or "utf-8", "replace").strip()
    from bs4 import BeautifulSoup  # noqa: PLC0415  (few sessions fetch)
    from markdownify import MarkdownConverter  # noqa: PLC0415

    soup = BeautifulSoup(page.body, "html.parser", from_encoding=_known(page.encoding) or None)
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    for removed in soup.find_all(("head", *_REMOVED)):
        removed.decompose()
    _with_whole_links(soup, page.url)
    text = MarkdownConverter(heading_style="ATX", strip=["img"], bullets="-").convert_soup(_main(soup))
    text = _MANY_BLANK_LINES.sub("\n\n", str(text)).strip()
    return f"# {title}\n\n{text}" if title and title not in text[:500] else text


def _main(soup: "BeautifulSoup") -> "BeautifulSoup | Tag":
    """Return the main part of a page if the page marks one, else all of it."""
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
    """Return Python's name of an encoding; "" if Python does not have it."""
    try:
        return codecs.lookup(encoding).name if encoding else ""
    except LookupError:
        return ""


LONGEST_S = 20.0


async def text_of(page: Page, longest_s: float = LONGEST_S) -> str:
    """Return the text of a page as `readable_page` makes it. Cancelling kills the process.

    Raises:
        FetchFailed: the conversion takes longer than `longest_s` seconds, or the HTML is nested too deeply.
    """
    head = json.dumps([page.url, page.kind, page.encoding]).encode()
    process = await asyncio.create_subprocess_exec(
        *own_argv(__name__), stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd="/", env={}
    )
    try:
        async with asyncio.timeout(longest_s):
            said, _ = await process.communicate(head + b"\n" + page.body)
    except TimeoutError as error:
        raise FetchFailed(f"{page.url[:200]} takes longer than {longest_s:g} s to be made text.") from error
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        raise FetchFailed(f"{page.url[:200]} cannot be made text: its HTML is nested too deeply.")
    return said.decode()


def main() -> int:
    """Convert the page on stdin to text on stdout; return 1 if its HTML is nested too deeply."""
    with os.fdopen(0, "rb") as given:
        url, kind, encoding = json.loads(given.readline())
        body = given.read()
    try:
        text = readable_page(Page(url, kind, encoding, body))
    except RecursionError:
        return 1
    with os.fdopen(1, "wb") as made:
        made.write(text.encode(errors="replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
