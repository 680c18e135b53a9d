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
