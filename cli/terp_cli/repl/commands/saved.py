"""An earlier session, as commands list it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SavedSession:
    """An earlier session of this directory. `last` is its last change, in seconds since the epoch.

    `forked_from` is the session that it is a copy of, "" if it is none.
    """

    id: str
    title: str
    turns: int
    last: float
    forked_from: str = ""
