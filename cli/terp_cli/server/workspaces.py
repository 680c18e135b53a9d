"""The working directories of sessions: created for each, or chosen below the root of the server."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from terp.settings.places import Places
from terp.text.dataclasses import dataclass
from terp.text.files import make_private
from terp_cli.server.failures import RequestRefused
from terp_cli.server.tree import parts_of


@dataclass(frozen=True)
class Workspaces:
    """`root` is the directory below which clients may choose one."""

    root: Path
    places: Places

    @property
    def work(self) -> Path:
        """The directory that holds the working directories created for sessions."""
        return self.places.work

    @property
    def own(self) -> Sequence[Path]:
        """The directories that only terp writes; clients never reach them."""
        return (self.places.config, self.places.state, self.places.sessions)

    def chosen(self, cwd: str, session: str) -> Path:
        """Return the directory of a new session: a new one, or the requested one below the root.

        Raises:
            RequestRefused: it is not below the root, or not there.
        """
        if not cwd:
            return make_private(self.work / session)
        try:
            root, path = self.root.resolve(), (self.root / cwd).resolve(strict=True)
            inside = path.is_relative_to(root) and path.is_dir()
        except (OSError, ValueError, RuntimeError):
            inside = False
        if not inside or self._is_own(path):
            raise RequestRefused(409, f"cwd must be a directory below {self.root}.", code="wrong_cwd")
        if path != root:
            parts_of(path.relative_to(root).as_posix())
        return path

    def again(self, cwd: str, session: str) -> Path:
        """Return the directory of a resumed session.

        Raises:
            RequestRefused: it is gone, or never was one for clients.
        """
        if not self.has(cwd):
            raise RequestRefused(404, f"There is no session {session}.")
        if Path(cwd).is_relative_to(self.work.resolve()):
            # A copy of a session has a directory of its own.
            return make_private(self.work / session)
        return self.chosen(cwd, session)

    def has(self, cwd: str) -> bool:
        """Return True if clients may see the sessions of this working directory, given by its real path."""
        path = Path(cwd)
        return path.is_relative_to(self.work.resolve()) or path.is_relative_to(self.root.resolve())

    def copy(self, session: str, copied: str) -> None:
        """Give a copied session its own copy of the files."""
        source = self.work / session
        if source.is_dir():
            shutil.copytree(source, make_private(self.work) / copied, symlinks=True)

    def remove(self, session: str) -> None:
        """Remove the directory that was created for a session. A directory below the root stays."""
        shutil.rmtree(self.work / session, ignore_errors=True)

    def _is_own(self, path: Path) -> bool:
        return any(path.is_relative_to(os.path.realpath(own)) for own in self.own)
