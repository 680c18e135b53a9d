"""A story as one HTML page that opens anywhere: pictures inside, no script, nothing loaded from elsewhere."""

import base64
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from html import escape
from typing import Any

from terp.events.outputs import Display, Error, Output, Text
from terp.store.export.colouring import code_style, coloured
from terp.store.export.page_style import POLICY, STYLE
from terp.store.export.prose import Prose
from terp.store.export.rendered import Rendered
from terp.store.export.story import Answer, Part, Prompt, Reasoning, Remark, Run, Story
from terp.store.export.words import as_text, not_run, output_text, unfinished
from terp.text import pictures

_TABLE_TAGS = {"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "br"}
_TABLE_ATTRIBUTES = {"th": {"colspan", "rowspan"}, "td": {"colspan", "rowspan"}}


def page(story: Story) -> Rendered:
    """The page. Whatever was said or put out is shown, and nothing of it is interpreted.

    Tables that outputs bring as HTML keep their cells alone. A browser that knows the page's content
    security policy would load and run nothing even if something had slipped through.
    """
    prose = Prose(story.pictures)
    body = "\n".join(block for part in story.parts for block in _blocks(part, prose))
    title = _text(story.title)
    return Rendered(
        "<!DOCTYPE html>\n"
        f'<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>\n{STYLE}{code_style()}</style>\n</head>\n<body>\n<main>\n"
        f"<header><h1>{title}</h1><p>{_text(_facts(story))}</p></header>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _facts(story: Story) -> str:
    day = datetime.fromtimestamp(story.began, UTC).date().isoformat() if story.began else ""
    return " · ".join(fact for fact in (day, story.model, story.name) if fact)


def _text(text: str) -> str:
    """Text of others as text of the page."""
    return escape(as_text(text))


def _blocks(part: Part, prose: Prose) -> Iterator[str]:
    match part:
        case Prompt(text=text, attachments=attachments):
            named = f'<p class="note">attached: {_text(", ".join(attachments))}</p>' if attachments else ""
            yield f'<section class="prompt"><p dir="auto">{_text(text.strip())}</p>{named}</section>'
        case Reasoning(text=text):
            yield f'<details dir="auto">\n<summary>Reasoning</summary>\n{prose.html(text)}</details>'
        case Answer(text=text):
            yield f'<section class="answer" dir="auto">\n{prose.html(text)}</section>'
        case Remark(text=text):
            yield f'<p class="note">{_text(text)}</p>'
        case Run():
            yield _run(part)


def _run(run: Run) -> str:
    note = "" if run.ran else f'<p class="note bad">{_text(not_run(run))}</p>\n'
    count = f" [{run.count}]" if run.count else ""
    label = f'<p class="label">{_text(run.language or "code")}{count}{" · typed" if run.typed else ""}</p>\n'
    outputs = "\n".join(_output(output, run) for output in run.outputs)
    ended = f'\n<p class="note bad">{_text(told)}</p>' if (told := unfinished(run)) else ""
    return (
        f'<section class="run{"" if run.ran else " not"}">\n{note}{label}'
        f'<pre class="code">{coloured(run.code, run.language)}</pre>\n{outputs}{ended}\n</section>'
    )


def _output(output: Output, run: Run) -> str:
    if isinstance(output, Display):
        for shown in _SHOWS:
            if made := shown(output.data):
                return f'<div class="shown">{made}</div>'
    kind = "bad" if isinstance(output, Error) else output.stream if isinstance(output, Text) else "out"
    text = output_text(output, run)
    return f'<pre class="{kind}">{escape(text)}</pre>' if text.strip() else ""


def _raster(data: Mapping[str, Any]) -> str:
    found = pictures.raster(data)
    if found is None:
        return ""
    return f'<img alt="picture" src="data:{found[0]};base64,{base64.b64encode(found[1]).decode()}">'


def _svg(data: Mapping[str, Any]) -> str:
    drawn = data.get("image/svg+xml")
    if not isinstance(drawn, str):
        return ""
    # As an image it is drawn and its scripts are not run, nor are its links followed.
    encoded = base64.b64encode(drawn.encode("utf-8", "replace")).decode()
    return f'<img alt="picture" src="data:image/svg+xml;base64,{encoded}">'


def _table(data: Mapping[str, Any]) -> str:
    written = data.get("text/html")
    if not isinstance(written, str) or "<table" not in written:
        return ""
    import nh3  # noqa: PLC0415  (most sessions show no table)

    clean = nh3.clean(
        as_text(written),
        tags=_TABLE_TAGS,
        attributes=_TABLE_ATTRIBUTES,
        clean_content_tags={"script", "style"},
        link_rel=None,
    )
    return f'<div class="wide">{clean}</div>' if "<td" in clean else ""


def _markdown(data: Mapping[str, Any]) -> str:
    written = data.get("text/markdown")
    return Prose({}).html(written) if isinstance(written, str) else ""


_SHOWS: tuple[Callable[[Mapping[str, Any]], str], ...] = (_raster, _svg, _table, _markdown)
