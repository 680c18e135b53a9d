"""Values that terp has put into an answer, in brackets that the model cannot write.

Within the Markdown parser, two of Unicode's noncharacters stand for the brackets.
"""

import re

from rich.style import Style
from rich.text import Text

from terp.events import TextDelta
from terp_cli.render import look
from terp_cli.terminal.sanitise import readable

_BEGIN, _END = chr(0xFDD0), chr(0xFDD1)
_BRACKETS = str.maketrans({_BEGIN: "‹", _END: "›"})
_MARKS = re.compile(f"([{_BEGIN}{_END}])")


def fed(delta: TextDelta) -> str:
    """Return the text of a piece of an answer; a computed value is enclosed in marks."""
    text = _MARKS.sub("\ufffd", delta.text)
    return f"{_BEGIN}{text}{_END}" if delta.reference else text


def bracketed(text: str) -> str:
    """Return a text with brackets for the marks."""
    return text.translate(_BRACKETS)


def words(text: str, style: Style = look.PLAIN) -> Text:
    """Return text of the model; the brackets around a value are faint."""
    shown = Text()
    for part in _MARKS.split(text):
        is_mark = _MARKS.match(part) is not None
        shown.append(bracketed(part) if is_mark else readable(part), style + look.DIM if is_mark else style)
    return shown
