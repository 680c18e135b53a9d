"""A story as one HTML page that opens anywhere: pictures inside, no script, nothing loaded from elsewhere."""

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from terp.events.outputs import Display, Error, Output, Text
from terp.events.run_log import LoggedRun
from terp.store.export.story import Answer, Part, Prompt, ReasoningPart, Remark, Rendered, Story
from terp.store.export.words import as_text, not_run, output_text, unfinished
from terp.text import pictures
from terp.text.files import content_of

_TABLE_TAGS = {"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "br"}
_TABLE_ATTRIBUTES = {"th": {"colspan", "rowspan"}, "td": {"colspan", "rowspan"}}
_MIMES = {f".{extension}": mime for mime, extension in pictures.EXTENSIONS.items()}
_LARGEST_PICTURE = 20_000_000
_LINKED = ("http:", "https:", "mailto:")
# What would show code in another order than it runs in.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def page(story: Story) -> Rendered:
    """Return the page. All texts and outputs are shown, and none is interpreted.

    HTML tables of outputs keep only their cells. A browser that knows the page's content
    security policy loads and runs nothing, even if an output contained active content.
    """
    prose = _Markdown(story.pictures)
    body = "\n".join(block for part in story.parts for block in _blocks(part, prose))
    title = _text(story.title)
    return Rendered(
        "<!DOCTYPE html>\n"
        f'<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE}{_code_style()}</style>\n</head>\n<body>\n<main>\n"
        f"<header><h1>{title}</h1><p>{_text(_facts(story))}</p></header>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _facts(story: Story) -> str:
    day = datetime.fromtimestamp(story.began, UTC).date().isoformat() if story.began else ""
    return " · ".join(fact for fact in (day, story.model, story.name) if fact)


def _text(text: str) -> str:
    """Return foreign text as text of the page."""
    return escape(as_text(text))


def _blocks(part: Part, prose: "_Markdown") -> Iterator[str]:
    match part:
        case Prompt(text=text, attachments=attachments):
            named = f'<p class="note">attached: {_text(", ".join(attachments))}</p>' if attachments else ""
            yield f'<section class="prompt"><p dir="auto">{_text(text.strip())}</p>{named}</section>'
        case ReasoningPart(text=text):
            yield f'<details dir="auto">\n<summary>Reasoning</summary>\n{prose.html(text)}</details>'
        case Answer(text=text):
            yield f'<section class="answer" dir="auto">\n{prose.html(text)}</section>'
        case Remark(text=text):
            yield f'<p class="note">{_text(text)}</p>'
        case LoggedRun():
            yield _run(part)


def _run(run: LoggedRun) -> str:
    note = "" if run.ran else f'<p class="note bad">{_text(not_run(run))}</p>\n'
    count = f" [{run.number}]" if run.number else ""
    label = f'<p class="label">{_text(run.language or "code")}{count}{" · typed" if run.typed else ""}</p>\n'
    outputs = "\n".join(_output(output, run) for output in run.outputs)
    ended = f'\n<p class="note bad">{_text(how)}</p>' if (how := unfinished(run)) else ""
    return (
        f'<section class="run{"" if run.ran else " not"}">\n{note}{label}'
        f'<pre class="code">{_coloured(run.code, run.language)}</pre>\n{outputs}{ended}\n</section>'
    )


def _output(output: Output, run: LoggedRun) -> str:
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
    return _Markdown({}).html(written) if isinstance(written, str) else ""


class _Markdown:
    """Converts Markdown to HTML; it embeds the images that runs of the session have left."""

    def __init__(self, left: Mapping[str, Path]) -> None:
        self._left = left

    def html(self, markdown: str) -> str:
        """Return the HTML of a piece of Markdown, ending with a newline."""
        from markdown_it import MarkdownIt  # noqa: PLC0415  (other formats need none)

        parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        # `add_render_rule` would bind these to the renderer.
        rules: dict[str, Any] = getattr(parser.renderer, "rules")  # noqa: B009  (its protocol has them not)
        rules |= {"image": self._image, "link_open": _link, "fence": _fence}
        return str(parser.render(as_text(markdown)))

    def _image(self, tokens: Sequence[Any], at: int, *_: Any) -> str:
        words, target = escape(tokens[at].content), str(tokens[at].attrGet("src") or "")
        if inside := self._data(unquote(target)):
            return f'<img alt="{words}" src="{inside}">'
        # An address would be asked when the page is opened: its reader decides.
        return f"{words or 'picture'} ({_linked(target)})"

    def _data(self, target: str) -> str:
        name = PurePosixPath(target).name
        path = self._left.get(target) or next(
            (file for path, file in self._left.items() if PurePosixPath(path).name == name), None
        )
        mime = _MIMES.get(path.suffix.lower()) if path else None
        if path is None or mime is None or "://" in target:
            return ""
        try:
            content = content_of(path, _LARGEST_PICTURE + 1)
        except OSError:
            return ""
        if len(content) > _LARGEST_PICTURE:
            return ""
        return f"data:{mime};base64,{base64.b64encode(content).decode()}"


def _linked(target: str) -> str:
    shown = escape(target)
    if not target.lower().startswith(_LINKED):
        return shown
    return f'<a rel="noopener noreferrer nofollow" href="{shown}">{shown}</a>'


def _link(tokens: Sequence[Any], at: int, *_: Any) -> str:
    target = str(tokens[at].attrGet("href") or "")
    if not target.lower().startswith(_LINKED):
        return f'<a title="{escape(target)}">'
    return f'<a rel="noopener noreferrer nofollow" href="{escape(target)}">'


def _fence(tokens: Sequence[Any], at: int, *_: Any) -> str:
    language = (tokens[at].info or "").strip().split(" ")[0]
    return f'<pre class="code">{_coloured(tokens[at].content, language)}</pre>\n'


def _coloured(code: str, language: str) -> str:
    """Return code as the inside of a `<pre class="code">`."""
    # As heavy as all the rest of an export.
    from pygments import highlight  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.formatters.html import HtmlFormatter  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]  # noqa: PLC0415

    safe = _BIDI.sub(lambda found: f"<U+{ord(found.group()):04X}>", as_text(code))
    try:
        lexer = get_lexer_by_name(language or "text", stripnl=False)
    except ClassNotFound:
        return escape(safe)
    return str(highlight(safe, lexer, HtmlFormatter(nowrap=True))).rstrip("\n")


def _code_style() -> str:
    """Return the colours: one style for light, one for dark."""
    from pygments.formatters.html import HtmlFormatter  # noqa: PLC0415  (see `coloured`)

    light = HtmlFormatter(style="xcode").get_style_defs(".code")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".code")
    return f"{_in('light', _colours(light))}\n{_in('dark', _colours(dark))}\n"


def _in(scheme: str, rules: str) -> str:
    return f"@media (prefers-color-scheme: {scheme}) {{\n{rules}\n}}"


def _colours(rules: str) -> str:
    """Return only the rules for tokens: background and line numbers are those of the page."""
    return "\n".join(line for line in rules.splitlines() if line.startswith(".code ."))


_SHOWS: tuple[Callable[[Mapping[str, Any]], str], ...] = (_raster, _svg, _table, _markdown)

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_STYLE = """\
:root { --ground: #fff; --ink: #1f2328; --dim: #59636e; --line: #d1d9e0; --soft: #f6f8fa;
  --accent: #0969da; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --ink: #e6edf3; --dim: #9198a1;
  --line: #3d444d; --soft: #161b22; --accent: #58a6ff; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1.5rem; }
header p, .label, .note { color: var(--dim); font-size: .85rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
a { color: var(--accent); }
img { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
pre { margin: .4rem 0; padding: .7rem .9rem; overflow-x: auto; overflow-wrap: normal; white-space: pre;
  font: 13.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono", monospace;
  unicode-bidi: isolate; tab-size: 4; }
code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono", monospace;
  background: var(--soft); padding: .1em .3em; border-radius: 4px; }
.code { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; }
pre.stdout, pre.stderr, pre.out, pre.bad { border-left: 3px solid var(--line); padding-block: .2rem;
  max-height: 40rem; overflow-y: auto; }
pre.stderr { color: var(--dim); }
pre.bad { border-left-color: var(--bad); }
.bad { color: var(--bad); }
.prompt { margin: 2rem 0 1rem; padding: .6rem 1rem; background: var(--soft); border-radius: 8px;
  border-left: 4px solid var(--accent); }
.prompt p { margin: 0; white-space: pre-wrap; font-weight: 600; }
.prompt .note { font-weight: 400; }
details { margin: 1rem 0; color: var(--dim); font-size: .9rem; }
summary { cursor: pointer; }
.run { margin: 1rem 0; }
.run.not > .code { opacity: .7; }
.label { margin: 0; }
.shown { margin: .5rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
thead th { border-bottom-width: 2px; }
.answer th, .answer td { text-align: left; }
blockquote { margin: .5rem 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--dim); }
@media print { pre { white-space: pre-wrap; } pre.stdout, pre.out { max-height: none; } }
"""
