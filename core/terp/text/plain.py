"""Text that others wrote as plain text: escapes removed, carriage returns and backspaces applied, valid."""

import re

# CSI, OSC/DCS/SOS/PM/APC with their terminators, charset and other two- or three-byte escapes (ECMA-48).
_ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)"
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_UNSETTLED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BACKSPACE = re.compile(r"[^\x08]\x08")
_LONGEST_LINE = 65_536

_WORDLESS = re.compile(r"\s*<[\w.]+(?: object)?(?: at 0x[0-9a-fA-F]+)?>\s*")


def without_escapes(text: str) -> str:
    """`text` without terminal escape sequences."""
    return _ESCAPE.sub("", text) if "\x1b" in text or "\x9b" in text else text


def mended(text: str) -> str:
    """`text` with halves of surrogate pairs joined; a lone one, which UTF-8 cannot hold, becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def settled(line: str) -> str:
    """One line, without its newline, as a terminal would leave it standing."""
    line = without_escapes(line)
    if "\x08" in line:
        while (shorter := _BACKSPACE.sub("", line)) != line:
            line = shorter
    if "\r" in line:
        line = _overwritten(line)
    return _CONTROL.sub("", line)


def _overwritten(line: str) -> str:
    result = ""
    for part in line.split("\r"):
        result = part + result[len(part) :]
    return result


class Lines:
    """Settles a stream line by line, whatever the pieces it comes in."""

    def __init__(self) -> None:
        self._open = ""

    def feed(self, text: str) -> str:
        """The lines that `text` completes, settled, with their newlines."""
        text = self._open + text
        cut = text.rfind("\n") + 1
        # A line without an end must not be kept whole: a program may never write a newline.
        if len(text) - cut > _LONGEST_LINE:
            cut = len(text)
        complete, self._open = text[:cut], text[cut:]
        if not _UNSETTLED.search(complete):
            return complete
        return "\n".join(settled(line) for line in complete.split("\n"))

    def rest(self) -> str:
        """The line that has no newline yet, settled; the next piece starts anew."""
        rest, self._open = settled(self._open), ""
        return rest


def is_wordless(text: str) -> bool:
    """Whether `text` is what Python says of an object that has no words for itself: `<a.B object at 0x…>`."""
    return _WORDLESS.fullmatch(text) is not None
