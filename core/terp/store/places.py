"""Where a session puts its files, and whether it is kept there."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from terp import __version__
from terp.keys import KeyringFailed, with_keys
from terp.settings import Settings
from terp.store.forms import Header
from terp.store.journal import NAME
from terp.store.keeping import Keeper, resumed
from terp.store.protocol import Keeping

if TYPE_CHECKING:
    from terp.models.scrubbing import Scrubber


@dataclass(frozen=True, slots=True)
class Place:
    """A session's folder, and what keeps the session, there or elsewhere, if anything does."""

    folder: Path
    keeper: Keeping | None = None


@dataclass(frozen=True, slots=True)
class Secrets:
    """What must not be written: the keys in the environment, and those that the call and settings name."""

    environ: Mapping[str, str]
    settings: Settings
    api_key: str = ""

    def scrubber(self) -> "Scrubber":
        """What takes them out of text."""
        from terp.kernels.remote.address import token_value  # noqa: PLC0415  (few sessions have a gateway)
        from terp.models.scrubbing import Scrubber, secrets_in  # noqa: PLC0415  (a prompt that waits writes nothing)

        token = token_value(self.settings, self.environ)
        try:
            keyed = with_keys(self.environ, self.settings.model, *self.settings.fallback_models)
        except KeyringFailed:
            # A key that the keyring does not give is in no text.
            keyed = with_keys(self.environ, keyring=False)
        named = keyed.get(self.settings.api_key_env, "")
        return Scrubber(secrets_in(keyed, self.api_key, named, token))


def is_session(folder: Path) -> bool:
    """Whether a folder holds a stored session."""
    return (folder / NAME).is_file()


def new_place(folder: Path, cwd: str, secrets: Secrets) -> Place:
    """A new session that is kept in `folder` from its first turn on; `cwd` is its working directory."""
    header = Header(folder.name, real_directory(cwd), round(time.time(), 3), __version__)
    return Place(folder, Keeper(folder, header, secrets.scrubber))


def stored_place(folder: Path, secrets: Secrets) -> Place:
    """The session that is stored in `folder`, to be gone on with.

    Raises:
        SessionError: another process has it open, or it cannot be read.
    """
    return Place(folder, resumed(folder, secrets.scrubber))


def real_directory(cwd: str | Path) -> str:
    """A directory by the name under which its sessions are found, whatever link led there."""
    return os.path.realpath(cwd or os.curdir)
