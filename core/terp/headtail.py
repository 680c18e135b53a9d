"""Text cut in the middle: the head and the tail of it, and how much was left out."""

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
        self._dropped = 0

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
            self._dropped += len(gone)

    def clear(self) -> None:
        """Forget everything."""
        self._head.clear()
        self._tail.clear()
        self._head_size = self._tail_size = self._dropped = 0

    @property
    def empty(self) -> bool:
        """Whether nothing was added."""
        return not self._head_size

    @property
    def left_out(self) -> int:
        """How many characters the text lacks."""
        return self._dropped + max(0, self._tail_size - self._tail_limit)

    def text(self, where: str = "") -> str:
        """The text; where characters are left out, a line says how many, and `where` all of it is."""
        head, tail = "".join(self._head), "".join(self._tail)
        if not self.left_out:
            return head + tail
        tail = tail[len(tail) - self._tail_limit :] if self._tail_limit else ""
        note = f"{self.left_out:,} characters left out"
        return f"{head}\n[… {note}{'; ' + where if where else ''} …]\n{tail}"
