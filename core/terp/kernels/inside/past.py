"""What there was before each turn, kept so that a person can go back to it."""

from __future__ import annotations

from typing import Any

from .file_copies import FileCopies
from .files import Touched
from .home import Home
from .moments import Moments
from .namespace import Namespace

# A request says in its metadata to which turn its code belongs, by a number that grows.
MOMENT = "terp_moment"


class Past:
    """Keeps before each cell what it may change, and puts it back."""

    def __init__(self, home: Home, namespace: Namespace, touched: Touched) -> None:
        self.home = home
        self.namespace = namespace
        self.touched = touched
        self.moments = Moments(home.shell, namespace.kinds)
        self.files = FileCopies()
        touched.watch = self.before_writing

    def begin(self, *about: Any) -> None:
        """A cell begins."""
        code = getattr(about[0], "raw_cell", "") if about else ""
        sent = self.home.kernel.get_parent().get("metadata") or {}
        for gone in self.moments.begin(sent.get(MOMENT), code if type(code) is str else ""):
            self.files.drop(gone)

    def end(self) -> None:
        """A cell is over."""
        if self.moments.kept:
            self.moments.end(self.namespace.changed)
            self.files.end(self.moments.kept[-1], self.touched.before)

    def before_writing(self, path: str) -> None:
        """The cell is about to write to a path."""
        if self.moments.kept:
            self.files.keep(self.moments.kept[-1], path)

    def written(self, number: int) -> list[list[str]]:
        """The files that were written since before a turn; what can be done about each, and why not."""
        return self.files.rows(self.moments.since(number))

    def rewind(self, number: int, *paths: str) -> dict[str, Any]:
        """Put all back as it was before a turn; of the files those at `paths`. What came of it."""
        from .going_back import GoingBack  # noqa: PLC0415 - few sessions go back

        done = GoingBack(self.moments, number, self.files).go(list(paths))
        # What is different now, no cell has changed.
        self.namespace.before = None
        return done
