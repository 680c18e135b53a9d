"""Code with its colours, in HTML."""

import re
from html import escape

from terp.store.export.words import as_text

# What would show code in another order than it runs in.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def coloured(code: str, language: str) -> str:
    """Code as the inside of a `<pre class="code">`."""
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


def code_style() -> str:
    """The colours: one style for light, one for dark."""
    from pygments.formatters.html import HtmlFormatter  # noqa: PLC0415  (see `coloured`)

    light = HtmlFormatter(style="xcode").get_style_defs(".code")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".code")
    return f"{_in('light', _colours(light))}\n{_in('dark', _colours(dark))}\n"


def _in(scheme: str, rules: str) -> str:
    return f"@media (prefers-color-scheme: {scheme}) {{\n{rules}\n}}"


def _colours(rules: str) -> str:
    """The rules for tokens alone: the ground and line numbers are the page's own."""
    return "\n".join(line for line in rules.splitlines() if line.startswith(".code ."))
