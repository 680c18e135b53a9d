"""How terp looks: the styles of its own words, and of code.

The sixteen colours of the terminal are used, so that its theme decides how they look.
"""

from functools import lru_cache
from typing import Any

from rich.style import Style

PLAIN = Style.null()
DIM = Style(dim=True)
BOLD = Style(bold=True)
ITALIC = Style(italic=True)
STRIKE = Style(strike=True)
LINK = Style(underline=True)
FORMULA = Style(italic=True)
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
    "Comment": Style(color="bright_black", italic=True),
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
    """The style of one of Pygments' token types."""
    while token:
        if style := _CODE.get(".".join(token)):
            return style
        token = token.parent
    return PLAIN
