"""`/upload` and `/download`: files of the session, or with fewer limits those of the server's user."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

from terp_cli.server.compat.wanted import Rejected
from terp_cli.server.ground import Ground
from terp_cli.server.served import Served
from terp_cli.server.tree import Tree

_PIECE = 256 * 1024


class Reachable:
    """The files that clients may write and read: with `anywhere` those below the root of the server, too.

    What terp keeps for itself is never among them.
    """

    def __init__(self, ground: Ground, *, anywhere: bool) -> None:
        self._ground = ground
        self._anywhere = anywhere

    async def write(self, served: Served, path: str, pieces: AsyncIterator[bytes]) -> None:
        """Have `pieces` be the file at `path`, whole or not at all.

        Raises:
            Rejected, Refused: it is outside of what clients may write, or cannot be written.
        """
        tree, name = self._placed(served, path)
        await tree.write(name, pieces)

    def read(self, served: Served, name: str) -> int:
        """A file, open for reading.

        Raises:
            Refused: there is none.
        """
        tree = Tree(self._ground.root, self._ground.own) if self._anywhere else served.files
        return tree.read(name)

    def _placed(self, served: Served, path: str) -> tuple[Tree, str]:
        home = self._ground.root if self._anywhere else served.cwd
        try:
            place = Path(os.path.realpath((home / path).parent)) / Path(path).name
        except ValueError:
            raise Rejected(404, "That is no path.") from None
        if any(place.is_relative_to(os.path.realpath(own)) for own in self._closed(served)):
            raise Rejected(403, "terp's own files are not for clients.")
        if self._anywhere:
            return Tree(place.parent, self._ground.own), place.name
        real = Path(os.path.realpath(home))
        if not place.is_relative_to(real):
            raise Rejected(403, "Files outside the session's directory need --compat-unsafe.")
        return served.files, place.relative_to(real).as_posix()

    def _closed(self, served: Served) -> list[Path]:
        # A session without a directory of its choice works in one below the state.
        return [own for own in self._ground.own if not served.cwd.is_relative_to(own)] + [
            self._ground.places.sessions
        ]
