"""Telling that something failed in the same way again, although no two failures are the same text."""

import re
from collections.abc import Sequence

from terp.events.outputs import Error
from terp.text.plain import without_escapes

# What differs from run to run and says nothing: addresses, times, dates, process ids, private folders.
_PASSING = re.compile(
    r"0x[0-9a-fA-F]+"
    r"|\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\b\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|sec|seconds|minutes)\b"
    r"|(?<=pid )\d+|(?<=\[)\d+(?=\])"
    r"|/tmp/[\w./-]+"
)
_LINE = re.compile(r"^-+> *\d+ (.*)$", re.MULTILINE)


def normal(text: str) -> str:
    """A text without what differs between two runs that fail in the same way."""
    return " ".join(_PASSING.sub("…", without_escapes(text)).split())


def signature(error: Error) -> Sequence[str]:
    """What makes an error the same as another one: its type, its message and the lines that it came by."""
    lines = _LINE.findall(without_escapes("\n".join(error.traceback)))
    return (error.name, normal(error.value), *(line.strip() for line in lines[:1]))
