"""Text for users and models: without escapes, valid, settled by lines, and cut to a length."""

import re
from collections import deque

from terp.text.note_mark import NoteMark

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
    """Return text without terminal escape sequences."""
    return _ESCAPE.sub("", text) if "\x1b" in text or "\x9b" in text else text


def mended(text: str) -> str:
    """Return text with surrogate pairs joined; a lone half, which UTF-8 cannot encode, becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def settled(line: str) -> str:
    """Return a line, without its newline, as a terminal would show it in the end."""
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
    """Settles a stream line by line; pieces may end anywhere."""

    def __init__(self) -> None:
        self._open = ""

    def feed(self, text: str) -> str:
        """Return the lines that `text` completes, settled, with their newlines."""
        text = self._open + text
        cut = text.rfind("\n") + 1
        # A program may never write a newline, so the length of an unfinished line has a limit.
        if len(text) - cut > _LONGEST_LINE:
            cut = len(text)
        complete, self._open = text[:cut], text[cut:]
        if not _UNSETTLED.search(complete):
            return complete
        return "\n".join(settled(line) for line in complete.split("\n"))

    def rest(self) -> str:
        """Return the unfinished line, settled; the next piece begins a new line."""
        rest, self._open = settled(self._open), ""
        return rest


def counted(number: int, what: str) -> str:
    """Return a number of things: `1 line`, `2,000 lines`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def is_wordless(text: str) -> bool:
    """Return True if text is the default `repr` of an object: `<a.B object at 0x…>`."""
    return _WORDLESS.fullmatch(text) is not None


class HeadTail:
    """Collects text of any length in bounded memory: the first and the last half of `limit` characters.

    The line about what is left out has the `mark` of a note.
    """

    def __init__(self, limit: int, mark: NoteMark | None = None) -> None:
        self._mark = mark or NoteMark()
        self._head_limit = limit - limit // 2
        self._tail_limit = limit // 2
        self._head: list[str] = []
        self._head_size = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._dropped = self._dropped_lines = 0

    def add(self, text: str) -> None:
        """Append `text`."""
        room = self._head_limit - self._head_size
        if room > 0:
            self._head.append(text[:room])
            self._head_size += min(room, len(text))
            text = text[room:]
        if not text:
            return
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._tail_limit:
            gone = self._tail.popleft()
            self._tail_size -= len(gone)
            self.lacks(gone.count("\n"), len(gone))

    def lacks(self, lines: int, characters: int) -> None:
        """Add to the count of text that is left out of the middle."""
        self._dropped_lines += lines
        self._dropped += characters

    def clear(self) -> None:
        """Forget everything."""
        self._head.clear()
        self._tail.clear()
        self._head_size = self._tail_size = self._dropped = self._dropped_lines = 0

    @property
    def empty(self) -> bool:
        """True if nothing was added."""
        return not self._head_size

    @property
    def left_out(self) -> int:
        """The least number of characters that the text lacks; it is cut between lines."""
        return self._dropped + max(0, self._tail_size - self._tail_limit)

    def text(self, where: str = "") -> str:
        """Return the text; in place of left-out lines one line gives their number, and `where` to read them.

        A line longer than half of the limit is cut, too.
        """
        head, tail = "".join(self._head), "".join(self._tail)
        if not self.left_out:
            return head + tail
        end, start = head.rfind("\n") + 1, max(0, len(tail) - self._tail_limit)
        if end > self._head_limit // 2:
            head, tail, start = head[:end], head[end:] + tail, start + len(head) - end
        line = tail.find("\n", max(0, start - 1)) + 1
        if 0 < line <= len(tail) - self._tail_limit // 2:
            start = line
        gone, tail = tail[:start], tail[start:]
        note = _counted(self._dropped_lines + gone.count("\n"), self._dropped + len(gone))
        head = head.removesuffix("\n")
        left_out = self._mark.note(f"… {note} left out{'; ' + where if where else ''} …")
        return f"{head}\n{left_out}\n{tail}"


def head_and_tail(text: str, limit: int, mark: NoteMark | None = None) -> str:
    """Return a text, cut in its middle if it is longer than `limit` characters."""
    cut = HeadTail(limit, mark)
    cut.add(text)
    return cut.text()


def _counted(lines: int, characters: int) -> str:
    if not lines:
        return f"{characters:,} characters"
    return f"{counted(lines, 'line')} ({characters:,} characters)"
