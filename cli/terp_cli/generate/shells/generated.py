"""The completion files, made from the tables."""

from terp.settings.profiles import Profiles, shipped_profiles
from terp_cli.generate.shells import bash, fish, zsh
from terp_cli.generate.shells.entries import entries

_WRITERS = {"bash": bash.script, "zsh": zsh.script, "fish": fish.script}


def generated(shell: str) -> str:
    """The completion file for one of bash, zsh, fish."""
    folder = shipped_profiles()
    # A person's own profiles are looked up by the shell: to start terp for them would take 70 ms a key.
    profiles = [entry.name for entry in Profiles(folder, folder).listed()]
    return _WRITERS[shell](entries(), profiles)
