"""Programs of the user's desktop: clipboard, browser or viewer, editor."""

import asyncio
import base64
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from terp.errors import TerpError

# Command lines, and the variable that each needs in order to reach a clipboard.
_PROGRAMS = (
    (("wl-copy",), "WAYLAND_DISPLAY"),
    (("xclip", "-selection", "clipboard"), "DISPLAY"),
    (("xsel", "--clipboard", "--input"), "DISPLAY"),
    (("pbcopy",), ""),
    (("clip.exe",), "WSL_DISTRO_NAME"),
)
# The same, to read a picture from it.
_PICTURE_PROGRAMS = (
    (("wl-paste", "--type", "image/png"), "WAYLAND_DISPLAY"),
    (("xclip", "-selection", "clipboard", "-target", "image/png", "-out"), "DISPLAY"),
    (("pngpaste", "-"), ""),
)
_PROGRAM_S = 5.0
_PNG = b"\x89PNG\r\n\x1a\n"
# xterm and others drop longer sequences; many take more.
_LONGEST_SEQUENCE = 74_994


async def copied(text: str, environ: Mapping[str, str], write: Callable[[str], None]) -> str:
    """Put `text` on the clipboard; return a sentence on the way it took and its limits.

    Over SSH the clipboard of this machine is not the user's, so only the terminal can reach it; `write`
    sends an escape sequence to the terminal.
    """
    for command in _usable(environ):
        if await asyncio.to_thread(_by_program, command, text, environ):
            return f"(by {Path(command[0]).name})"
    sequence = osc52(text, tmux="TMUX" in environ)
    write(sequence)
    if len(sequence) > _LONGEST_SEQUENCE:
        return "(sent to the terminal, which may cut such a long text)"
    return "(sent to the terminal: if it is not there, allow OSC 52 in its settings)"


async def copied_picture(environ: Mapping[str, str]) -> bytes:
    """Return the picture on the user's clipboard as a PNG; empty if there is none, or no way to it."""
    for command in _usable(environ, _PICTURE_PROGRAMS):
        content = await asyncio.to_thread(_content, command, environ)
        if content.startswith(_PNG):
            return content
    return b""


def osc52(text: str, *, tmux: bool = False) -> str:
    """Return the escape sequence that puts `text` on the clipboard of a terminal (OSC 52)."""
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
    sequence = f"\x1b]52;c;{encoded}\x07"
    # tmux forwards the wrapped form, if it is allowed to, and reads the plain form itself.
    return f"{sequence}\x1bPtmux;\x1b{sequence}\x1b\\" if tmux else sequence


def _usable(
    environ: Mapping[str, str], programs: Sequence[tuple[tuple[str, ...], str]] = _PROGRAMS
) -> Iterator[tuple[str, ...]]:
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return
    for command, variable in programs:
        found = shutil.which(command[0], path=environ.get("PATH", ""))
        if found and (not variable or environ.get(variable)):
            yield (found, *command[1:])


def _by_program(command: tuple[str, ...], text: str, environ: Mapping[str, str]) -> bool:
    try:
        # The program keeps running to serve the clipboard, so it must not inherit our streams.
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


def _content(command: tuple[str, ...], environ: Mapping[str, str]) -> bytes:
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=dict(environ),
            timeout=_PROGRAM_S,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return b""


_PAGES = (".html", ".htm", ".svg", ".xhtml")
# A failure shows at once; a viewer may run as long as its window is open.
_SOON_S = 1.0


def program_for(path: Path, environ: Mapping[str, str], system: str = sys.platform) -> Sequence[str]:
    """Return the command line that shows a file: `$BROWSER` for a page, else the desktop's opener.

    Raises:
        TerpError: no program can show it here; the message says why.
    """
    search = environ.get("PATH", "")
    # In the remote session of an editor, only this reaches the display.
    if path.suffix.lower() in _PAGES and (browser := environ.get("BROWSER", "").split(":")[0].split()):
        address = path.as_uri()
        with_address = [part.replace("%s", address) for part in browser]
        return with_address if with_address != browser else [*browser, address]
    if system == "darwin":
        return ["open", str(path)]
    if viewer := shutil.which("wslview", path=search):
        return [viewer, str(path)]
    if not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        raise TerpError("This terminal has no display: DISPLAY and WAYLAND_DISPLAY are not set.")
    if opener := shutil.which("xdg-open", path=search):
        return [opener, str(path)]
    raise TerpError("There is no xdg-open here, and BROWSER is not set.")


def open_file(path: Path, environ: Mapping[str, str]) -> None:
    """Start the program that shows a file; wait up to 1 s for a failure.

    Raises:
        TerpError: no program can show it here, or it failed at once.
    """
    command = program_for(path, environ)
    nowhere = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            command, env=dict(environ), stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
    except OSError as error:
        raise TerpError(f"{command[0]} cannot be started: {error.strerror}.") from error
    try:
        status = process.wait(_SOON_S)
    except subprocess.TimeoutExpired:
        # A thread must wait for its end; terp may exit before.
        threading.Thread(target=process.wait, daemon=True).start()
        return
    if status:
        raise TerpError(f"{command[0]} ended with exit status {status}.")


_SUFFIXES = {"python": ".py", "shell": ".sh", "bash": ".sh", "javascript": ".js", "r": ".R", "html": ".html"}


_FULL_SCREEN = frozenset(
    """
    atop btop emacs fzf htop joe k9s lazygit less man mc micro more most mutt nano ncdu nnn nvim nvtop ranger
    screen ssh tig tmux top vi vim vimdiff visidata watch
    """.split()  # noqa: SIM905 - a table of names, to be read
)


def takes_terminal(command: str) -> bool:
    """Return True for a shell command that draws on the whole terminal: `vim`, `git log | less`.

    That is one with a pipeline whose last program does so, and is neither redirected nor in the background.
    """
    return any(_draws(words) for words in _pipeline_ends(command))


def _draws(words: list[str]) -> bool:
    while words and (words[0] == "sudo" or "=" in words[0]):
        words.pop(0)
    return bool(words) and Path(words[0]).name in _FULL_SCREEN and not any(">" in word for word in words)


def _pipeline_ends(command: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    with suppress(ValueError):
        for token in (*lexer, ";"):
            if token in (";", "&&", "||"):
                yield words
            elif token not in ("|", "&"):
                words.append(token)
                continue
            words = []


def pager_of(environ: Mapping[str, str], usual: str) -> list[str]:
    """Return the command of the user's pager, else the `usual` one; empty if it cannot be run."""
    try:
        command = shlex.split(environ.get("PAGER") or usual)
    except ValueError:
        # A quote that nothing closes.
        return []
    return command if command and shutil.which(command[0]) else []


def run_on_terminal(command: str, cwd: Path) -> int:
    """Run a shell command that has the terminal of this process; return its exit code."""
    return subprocess.run(["/bin/sh", "-c", command], cwd=cwd, check=False).returncode


def run_editor(editor: str, text: str, language: str, terminal: int | None) -> str | None:
    """Return `text` as edited with the program `editor`, None if it fails; `terminal` is a descriptor."""
    with tempfile.TemporaryDirectory(prefix="terp-") as folder:
        path = Path(folder, "code" + _SUFFIXES.get(language, ".txt"))
        try:
            path.write_text(text, encoding="utf-8", newline="")
            ended = subprocess.run(
                [*shlex.split(editor), str(path)], stdin=terminal, stdout=terminal, check=False
            )
            if ended.returncode:
                return None
            with path.open(encoding="utf-8", newline="") as file:
                return file.read()
        except (OSError, ValueError):
            return None
