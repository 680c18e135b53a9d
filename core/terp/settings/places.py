"""The directories of terp's files: configuration and state, by the XDG rules on every system.

`TERP_HOME` moves all of it into one directory.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from terp.text.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Places:
    """The directory of the user's files, of terp's state, and of files that all agents read.

    None need exist.
    """

    config: Path
    state: Path
    shared: Path = Path("~/.agents")

    @property
    def config_file(self) -> Path:
        """The user's settings."""
        return self.config / "config.yaml"

    @property
    def profiles(self) -> Path:
        """The user's profiles."""
        return self.config / "profiles"

    @property
    def instructions(self) -> Path:
        """The user's instructions to every model."""
        return self.config / "AGENTS.md"

    @property
    def skills(self) -> tuple[Path, Path]:
        """The folders of the user's skills, the weaker one first."""
        return self.shared / "skills", self.config / "skills"

    @property
    def commands(self) -> Path:
        """The user's own commands."""
        return self.config / "commands"

    @property
    def keys(self) -> Path:
        """The stored keys of providers."""
        return self.config / "keys.json"

    @property
    def sessions(self) -> Path:
        """One directory for each session."""
        return self.state / "sessions"

    @property
    def work(self) -> Path:
        """The working directories created for sessions, each named after its session.

        They are outside of the sessions' folders: changes in those count as terp's, not as results of code.
        """
        return self.state / "work"

    @property
    def usage(self) -> Path:
        """The usage of models, over all sessions."""
        return self.state / "usage"

    @property
    def trust(self) -> Path:
        """The user's decisions about projects."""
        return self.state / "trust.json"

    @property
    def tested_tiers(self) -> Path:
        """The sandbox tiers that passed their test."""
        return self.state / "tested-tiers"

    @property
    def history(self) -> Path:
        """The lines typed at the prompt."""
        return self.state / "history"


def find_places(environ: Mapping[str, str]) -> Places:
    """Return the places that this environment asks for."""
    if own := environ.get("TERP_HOME"):
        # Absolute, as the working directory of a session may be another one.
        home = Path(own).expanduser().absolute()
        return Places(home, home, home / "agents")
    return Places(
        xdg_folder(environ, "XDG_CONFIG_HOME", ".config") / "terp",
        xdg_folder(environ, "XDG_STATE_HOME", ".local/state") / "terp",
        _home(environ) / ".agents",
    )


def xdg_folder(environ: Mapping[str, str], variable: str, default: str) -> Path:
    """Return the folder that a variable of the XDG specification names; by default one below the home."""
    # The XDG specification has relative paths ignored.
    if (named := environ.get(variable, "")) and os.path.isabs(named):  # noqa: PTH117
        return Path(named)
    return _home(environ) / default


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or "~").expanduser()
