"""What tmux knows of the terminal around it, which it does not let us ask."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

_FORMAT = "#{allow-passthrough} #{client_termname} #{client_termtype}"
_PLACE_PICTURES = ("kitty", "ghostty")
_PATIENCE_S = 0.3


@dataclass(frozen=True, slots=True)
class Tmux:
    """Whether tmux passes sequences on, and whether its terminal takes kitty's placeholders."""

    passes: bool = False
    places: bool = False


def ask_tmux(environ: Mapping[str, str]) -> Tmux:
    """What the tmux of this environment says; nothing good when it does not answer."""
    command = ["tmux", "display-message", "-p", _FORMAT]
    try:
        said = subprocess.run(
            command, env=dict(environ), capture_output=True, text=True, timeout=_PATIENCE_S, check=True
        ).stdout
    except (OSError, ValueError, subprocess.SubprocessError):
        return Tmux()
    allowed, _, terminal = said.strip().partition(" ")
    # A switch is told as a number by some versions and as a word by others.
    return Tmux(allowed in ("1", "2", "on", "all"), any(name in terminal for name in _PLACE_PICTURES))
