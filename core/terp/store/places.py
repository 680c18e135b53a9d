"""Where a session puts its files, and whether it is kept there."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from terp import __version__
from terp.secrets.known_secrets import Secrets
from terp.session.keeping import Keeping
from terp.store.forms import Header
from terp.store.journal import NAME
from terp.store.keeping import Keeper, resumed


@dataclass(frozen=True, slots=True)
class Place:
    """A session's folder, and what keeps the session, there or elsewhere, if anything does.

    `secrets` are those that `keeper` leaves out.
    """

    folder: Path
    keeper: Keeping | None = None
    secrets: Secrets | None = None


def is_session(folder: Path) -> bool:
    """Whether a folder holds a stored session."""
    return (folder / NAME).is_file()


def new_place(folder: Path, cwd: str, secrets: Secrets) -> Place:
    """A new session that is kept in `folder` from its first turn on; `cwd` is its working directory."""
    header = Header(folder.name, real_directory(cwd), round(time.time(), 3), __version__)
    return Place(folder, Keeper(folder, header, secrets.scrubber), secrets)


def stored_place(folder: Path, secrets: Secrets) -> Place:
    """The session that is stored in `folder`, to be gone on with.

    Raises:
        SessionError: another process has it open, or it cannot be read.
    """
    return Place(folder, resumed(folder, secrets.scrubber), secrets)


def real_directory(cwd: str | Path) -> str:
    """A directory by the name under which its sessions are found, whatever link led there."""
    return os.path.realpath(cwd or os.curdir)
