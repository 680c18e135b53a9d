from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from terp.events.outputs import Display, Error, Text
from terp.events.run_log import LoggedRun
from terp.store.export.page import page
from terp.store.export.story import Answer, Prompt, ReasoningPart, Remark, Story
from tests.core.store.export.scripted import story as scripted

HOSTILE = "</script><img src=x onerror=alert(1)><svg onload=alert(1)><!--</pre></style></title>\"'&"
PAGE_TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "section", "h1", "p", "pre", "span",
    "strong", "em", "code", "a", "img", "div", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "br",
    "details", "summary",
}  # fmt: skip


class Tags(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    handle_startendtag = handle_starttag


def made(*parts: Any, **facts: Any) -> str:
    return page(Story("s", parts, **facts)).text


def hostile(text: str = HOSTILE) -> str:
    outputs = (
        Text("stdout", text),
        Display({"text/plain": text, "text/html": f"<table><tr><td onclick=x>{text}</td></tr></table>"}),
        Display({"image/svg+xml": f"<svg>{text}</svg>"}),
        Display({"text/markdown": f"[a](javascript:alert(1)) ![b](https://e.example/x.png) {text}"}),
        Display({"text/latex": text, "image/png": "no base64 " + text}),
        Error(text, text, (text,)),
    )
    run = LoggedRun("", text, text, "died", 1, text, outputs)
    linked = f"[a](javascript:alert(1)) [b](data:text/html,x) <https://e.example/> ![c](http://e.example/y)\n{text}"
    said = (Prompt(text, (text,)), ReasoningPart(text), Answer(linked), Answer(f"```{text}\n{text}\n```"))
    parts = (*said, run, Remark(text))
    return page(Story(text, parts, model=text, began=1.0)).text


def test_nothing_hostile_becomes_a_tag() -> None:
    tags = Tags(hostile()).found
    assert {tag for tag, _ in tags} <= PAGE_TAGS
    assert [name for _, attributes in tags for name in attributes if name.startswith("on")] == []


def test_nothing_is_loaded_from_elsewhere() -> None:
    tags = Tags(hostile()).found
    sources = [str(attributes["src"]) for _, attributes in tags if "src" in attributes]
    assert sources
    assert all(source.startswith("data:image/") for source in sources)
    assert {tag for tag, attributes in tags if "href" in attributes} == {"a"}


def test_links_lead_to_pages_alone() -> None:
    links = [str(attributes["href"]) for _, attributes in Tags(hostile()).found if "href" in attributes]
    assert links
    assert all(link.startswith(("https://", "http://")) for link in links)


def test_a_policy_forbids_what_may_slip_through() -> None:
    (policy,) = (
        attributes["content"]
        for _, attributes in Tags(page(scripted()).text).found
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert str(policy).startswith("default-src 'none'; img-src data:;")


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x9b", "\x07", "\ud800"])
def test_controls_and_halves_of_characters_are_gone(character: str) -> None:
    text = hostile(f"a{character}[31mb")
    assert character not in text
    text.encode()


def test_what_turns_the_order_of_code_around_is_spelled_out() -> None:
    assert "&lt;U+202E&gt;" in made(LoggedRun("", "python", "x = 'a\u202eb'", "ok", 1))


def test_a_picture_that_the_answer_names_is_put_in(tmp_path: Path) -> None:
    (tmp_path / "plot.png").write_bytes(b"\x89PNG")
    text = made(Answer("![a plot](/w/plot.png)"), pictures={"/w/plot.png": tmp_path / "plot.png"})
    assert '<img alt="a plot" src="data:image/png;base64,iVBORw==">' in text


def test_a_picture_that_no_run_has_left_is_named_only(tmp_path: Path) -> None:
    (tmp_path / "private.png").write_bytes(b"\x89PNG")
    assert "<img" not in made(Answer(f"![x]({tmp_path}/private.png)"))
