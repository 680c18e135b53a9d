"""The styles of terp's text and of code.

They name the first eight colours of the terminal, which a theme may replace.
"""

from functools import lru_cache
from socket import gethostname
from typing import Any
from urllib.parse import quote

from rich.style import Style

PLAIN = Style.null()
DIM = Style(dim=True)
BOLD = Style(bold=True)
ITALIC = Style(italic=True)
STRIKE = Style(strike=True)
LINK = Style(underline=True)
FORMULA = Style(italic=True)
_FOR_URLS = "!#$%&'()*+,/:;=?@[]~"


def linked(style: Style, address: str) -> Style:
    """Return a style that also leads to an address of the web or of mail; any other is no link."""
    if address.startswith(("https://", "http://", "mailto:")):
        return style + Style(link=quote(address, safe=_FOR_URLS))
    return style


def file_link(path: str) -> Style:
    """Return the style of a file's name, which leads to the file if the path is absolute."""
    return Style(link=f"file://{gethostname()}{quote(path)}") if path.startswith("/") else PLAIN


INLINE_CODE = Style(color="cyan")
HEADINGS = (
    Style(bold=True, underline=True),
    Style(bold=True),
    Style(bold=True, italic=True),
    Style(italic=True),
)
MARKER = Style(color="yellow")
RULE = DIM
GOOD = Style(color="green")
BAD = Style(color="red")
WARNING = Style(color="yellow")

# Pygments' token types by name; the nearest ancestor that is listed decides.
_CODE = {
    "Comment": Style(dim=True, italic=True),
    "Comment.Preproc": Style(color="magenta"),
    "Keyword": Style(color="magenta"),
    "Keyword.Constant": Style(color="yellow"),
    "Keyword.Type": Style(color="cyan"),
    "Literal.String": Style(color="green"),
    "Literal.String.Escape": Style(color="yellow"),
    "Literal.String.Interpol": Style(color="yellow"),
    "Literal.Number": Style(color="yellow"),
    "Name.Builtin": Style(color="cyan"),
    "Name.Class": Style(color="blue", bold=True),
    "Name.Decorator": Style(color="yellow"),
    "Name.Exception": Style(color="cyan"),
    "Name.Function": Style(color="blue", bold=True),
    "Name.Tag": Style(color="blue"),
    "Name.Variable": Style(color="cyan"),
    "Operator.Word": Style(color="magenta"),
    "Generic.Deleted": Style(color="red"),
    "Generic.Inserted": Style(color="green"),
    "Generic.Heading": Style(bold=True),
}


@lru_cache(maxsize=256)
def of_token(token: Any) -> Style:
    """Return the style of one of Pygments' token types."""
    while token:
        if style := _CODE.get(".".join(token)):
            return style
        token = token.parent
    return PLAIN
