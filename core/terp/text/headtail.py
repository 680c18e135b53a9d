"""Text cut in the middle, between lines: the head and the tail of it, and how much was left out."""

from collections import deque


class HeadTail:
    """Collects text of any length in bounded memory: the first and the last half of `limit` characters."""

    def __init__(self, limit: int) -> None:
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
        """Count so much more as left out of the middle."""
        self._dropped_lines += lines
        self._dropped += characters

    def clear(self) -> None:
        """Forget everything."""
        self._head.clear()
        self._tail.clear()
        self._head_size = self._tail_size = self._dropped = self._dropped_lines = 0

    @property
    def empty(self) -> bool:
        """Whether nothing was added."""
        return not self._head_size

    @property
    def left_out(self) -> int:
        """How many characters the text lacks at least; it is cut between lines."""
        return self._dropped + max(0, self._tail_size - self._tail_limit)

    def text(self, where: str = "") -> str:
        """The text; where lines are left out, one says how many, and `where` all of it is.

        A line that is longer than half of what is kept is cut, too.
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
        return f"{head}\n[… {note} left out{'; ' + where if where else ''} …]\n{tail}"


def _counted(lines: int, characters: int) -> str:
    if not lines:
        return f"{characters:,} characters"
    return f"{lines:,} {'line' if lines == 1 else 'lines'} ({characters:,} characters)"
