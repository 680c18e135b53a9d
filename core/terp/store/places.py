"""The folder of a session, and whether it is stored there."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from terp import __version__
from terp.secrets.known_secrets import Secrets
from terp.session.keeping import Keeping
from terp.store.forms import Header
from terp.store.journal import NAME
from terp.store.keeping import Keeper, resumed
from terp.text.dataclasses import dataclass
from terp.text.note_mark import new_word


@dataclass(frozen=True, slots=True)
class Place:
    """The folder for a session's files, and the `keeper` that stores the session (None: it is not stored).

    `secrets` are the texts that `keeper` redacts.
    """

    folder: Path
    keeper: Keeping | None = None
    secrets: Secrets | None = None

    @contextmanager
    def closed_on_failure(self) -> Iterator[None]:
        """Close the keeper, which locks the folder, if the block fails."""
        try:
            yield
        except BaseException:
            if self.keeper is not None:
                self.keeper.close()
            raise


def is_session(folder: Path) -> bool:
    """Return True if a folder holds a stored session."""
    return (folder / NAME).is_file()


def new_place(folder: Path, cwd: str, secrets: Secrets) -> Place:
    """Return the place of a new session that is stored in `folder`; `cwd` is its working directory."""
    started = round(time.time(), 3)
    header = Header(folder.name, real_directory(cwd), started, __version__, note_word=new_word())
    return Place(folder, Keeper(folder, header, secrets.redactor), secrets)


def stored_place(folder: Path, secrets: Secrets) -> Place:
    """Return the place of the session that is stored in `folder`, to resume it.

    Raises:
        SessionError: another process has it open, or it cannot be read.
    """
    return Place(folder, resumed(folder, secrets.redactor), secrets)


def real_directory(cwd: str | Path) -> str:
    """Return the real path of a directory, by which its sessions are found."""
    return os.path.realpath(cwd or os.curdir)
