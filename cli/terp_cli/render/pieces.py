"""Text that grows at its end, without a copy at each piece."""

import unicodedata
from collections.abc import Iterator


class Pieces:
    """Pieces of a text, which are joined when the whole is read."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def add(self, piece: str) -> None:
        """Append `piece`."""
        if piece:
            self._pieces.append(piece)
            self._length += len(piece)

    def ended(self, text: str) -> Iterator[str]:
        """Append `text`, and take each line that it ends."""
        *ends, rest = text.split("\n")
        for end in ends:
            self.add(end)
            yield self.take()
        self.add(rest)

    def take(self) -> str:
        """Return the whole, and become empty."""
        whole = str(self)
        self._pieces, self._length = [], 0
        return whole

    def end(self, characters: int) -> str:
        """Return at most the last `characters`; the cost does not depend on the length of the whole.

        The result does not begin with a combining mark, which a terminal would put on the character
        before it.
        """
        found: list[str] = []
        length = 0
        for piece in reversed(self._pieces):
            found.append(piece)
            length += len(piece)
            if length >= characters:
                break
        ending = "".join(reversed(found))[-characters:]
        return ending if len(ending) == self._length else ending[_first_unmarked(ending) :]


def _first_unmarked(text: str) -> int:
    marked = (unicodedata.category(character)[0] == "M" for character in text)
    return next((at for at, is_mark in enumerate(marked) if not is_mark), len(text))
