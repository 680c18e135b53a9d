"""Checkpoints before each turn, and restoring them on request of the user."""

from __future__ import annotations

from typing import Any

from .checkpoints import Checkpoints
from .file_copies import FileCopies
from .files import Touched
from .home import Home
from .namespace import Namespace

# A request says in its metadata to which turn its code belongs, by a number that grows.
CHECKPOINT = "terp_moment"


class TurnStates:
    """Saves before each cell the state that it may change, and restores it."""

    def __init__(self, home: Home, namespace: Namespace, touched: Touched) -> None:
        self.home = home
        self.namespace = namespace
        self.touched = touched
        self.checkpoints = Checkpoints(home.shell, namespace.kinds)
        self.files = FileCopies()
        touched.watch = self.before_writing

    def begin(self, *about: Any) -> None:
        """Save the state before a cell."""
        code = getattr(about[0], "raw_cell", "") if about else ""
        sent = self.home.kernel.get_parent().get("metadata") or {}
        for gone in self.checkpoints.begin(sent.get(CHECKPOINT), code if type(code) is str else ""):
            self.files.drop(gone)

    def end(self) -> None:
        """Note changes of a finished cell."""
        if self.checkpoints.kept:
            self.checkpoints.end(self.namespace.changed)
            self.files.end(self.checkpoints.kept[-1], self.touched.before)

    def before_writing(self, path: str) -> None:
        """Copy a file that the cell is about to write to."""
        if self.checkpoints.kept:
            self.files.keep(self.checkpoints.kept[-1], path)

    def written(self, number: int) -> list[list[str]]:
        """Return the files written since the beginning of a turn, each with its possible action."""
        return self.files.rows(self.checkpoints.since(number))

    def rewind(self, number: int, *paths: str) -> dict[str, Any]:
        """Restore the state before a turn, and the files at `paths`; return a report."""
        from .restore import Restore  # noqa: PLC0415 - few sessions go back

        done = Restore(self.checkpoints, number, self.files).go(list(paths))
        # Differences from now on are not changes of a cell.
        self.namespace.before = None
        return done
