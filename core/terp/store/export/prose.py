"""Markdown of a model as HTML: raw HTML in it is shown, not interpreted, and nothing is loaded."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from terp.store.export.colouring import coloured
from terp.store.export.words import as_text
from terp.text.own_files import content_of
from terp.text.pictures import EXTENSIONS

_MIMES = {f".{extension}": mime for mime, extension in EXTENSIONS.items()}
_LARGEST_PICTURE = 20_000_000
_LINKED = ("http:", "https:", "mailto:")


class Prose:
    """Turns Markdown into HTML; images it names are put in if runs of the session have left them."""

    def __init__(self, left: Mapping[str, Path]) -> None:
        self._left = left

    def html(self, markdown: str) -> str:
        """The HTML of a piece of Markdown, ending with a newline."""
        from markdown_it import MarkdownIt  # noqa: PLC0415  (who exports to other formats does without)

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
    return f'<pre class="code">{coloured(tokens[at].content, language)}</pre>\n'
