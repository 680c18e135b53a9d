"""Completion of the command line in bash, zsh and fish.

`python -m terp_cli.generate.shells` writes completions/ from the tables of flags and subcommands, and the
names of profiles and pages.
"""

from pathlib import Path

import terp_cli

FILES = {"bash": "terp.bash", "zsh": "_terp", "fish": "terp.fish"}


def folder() -> Path:
    """Return the folder of the files: in the installed package, or at the root of a checkout."""
    package = Path(terp_cli.__file__).parent
    inside = package / "completions"
    return inside if inside.is_dir() else package.parent.parent / "completions"


def shipped(shell: str) -> str:
    """Return the text of the file for `shell`, one of `FILES`."""
    return (folder() / FILES[shell]).read_text(encoding="utf-8")


def generated(shell: str) -> str:
    """Generate the file for `shell` from the tables of flags and subcommands."""
    from terp.settings.profiles import Profiles, shipped_profiles  # noqa: PLC0415  (a shell waits for `shipped`)
    from terp_cli.generate.shells import bash, fish, zsh  # noqa: PLC0415
    from terp_cli.generate.shells.entries import entries  # noqa: PLC0415

    script = {"bash": bash.script, "zsh": zsh.script, "fish": fish.script}[shell]
    profiles_folder = shipped_profiles()
    # The shell looks up the user's own profiles: to start terp for them would take 70 ms a key.
    profiles = [entry.name for entry in Profiles(profiles_folder, profiles_folder).listed()]
    return script(entries(), profiles)
