"""The clipboard of the person: by a program of this machine, else through the terminal."""

import asyncio
import base64
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

# A program, and the variable without which it has no clipboard to put anything on.
_PROGRAMS = (
    (("wl-copy",), "WAYLAND_DISPLAY"),
    (("xclip", "-selection", "clipboard"), "DISPLAY"),
    (("xsel", "--clipboard", "--input"), "DISPLAY"),
    (("pbcopy",), ""),
    (("clip.exe",), "WSL_DISTRO_NAME"),
)
_PROGRAM_S = 5.0
# xterm and others drop longer sequences; many take more.
_LONGEST_SEQUENCE = 74_994


async def copied(text: str, environ: Mapping[str, str], write: Callable[[str], None]) -> str:
    """Put `text` on the clipboard; a sentence that says how, and what can be wrong with it.

    Over SSH the clipboard of this machine is not the person's, so only the terminal can reach theirs.
    `write` sends an escape sequence to it.
    """
    for command in _usable(environ):
        if await asyncio.to_thread(_by_program, command, text, environ):
            return f"(by {Path(command[0]).name})"
    sequence = osc52(text, tmux="TMUX" in environ)
    write(sequence)
    if len(sequence) > _LONGEST_SEQUENCE:
        return "(sent to the terminal, which may take less of so long a text)"
    return "(sent to the terminal: if it is not there, allow OSC 52 in its settings)"


def osc52(text: str, *, tmux: bool = False) -> str:
    """The escape sequence that asks a terminal to put `text` on its clipboard."""
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
    sequence = f"\x1b]52;c;{encoded}\x07"
    # tmux passes on what is wrapped for it, if it is allowed to; it also reads the plain form itself.
    return f"{sequence}\x1bPtmux;\x1b{sequence}\x1b\\" if tmux else sequence


def _usable(environ: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return
    for command, variable in _PROGRAMS:
        found = shutil.which(command[0], path=environ.get("PATH", ""))
        if found and (not variable or environ.get(variable)):
            yield (found, *command[1:])


def _by_program(command: tuple[str, ...], text: str, environ: Mapping[str, str]) -> bool:
    try:
        # They stay behind to serve the clipboard, so they must not hold our streams.
        ran = subprocess.run(
            command,
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            timeout=_PROGRAM_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return ran.returncode == 0
