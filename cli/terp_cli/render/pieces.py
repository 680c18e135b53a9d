"""Text that grows at its end, without copying it at every piece."""


class Pieces:
    """Joins pieces when the whole is asked for, and not before."""

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

    def take(self) -> str:
        """The whole; empty afterwards."""
        whole = str(self)
        self._pieces, self._length = [], 0
        return whole

    def end(self, characters: int) -> str:
        """At most the last `characters`; cheap however long the whole is."""
        found: list[str] = []
        length = 0
        for piece in reversed(self._pieces):
            found.append(piece)
            length += len(piece)
            if length >= characters:
                break
        return "".join(reversed(found))[-characters:]
