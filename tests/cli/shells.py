"""Real shells that are asked what they offer for a line."""

import os
import pty
import select
import shlex
import shutil
import signal
import subprocess
import threading
from pathlib import Path
from typing import Protocol

import pytest

from terp_cli.generate.shells import folder

_TIMEOUT_S = 30.0


class Shell(Protocol):
    """Knows the completions of terp, in a directory with files."""

    def offers(self, line: str) -> list[str]:
        """What a person can choose when they press Tab behind `line`, as the words the command would get."""

    def close(self) -> None:
        """End it."""


def start(name: str, cwd: Path, home: Path) -> Shell:
    """The shell of this name, or a skip where it is not installed."""
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "TERP_HOME": str(home), "LC_ALL": "C.UTF-8"}
    if name == "fish":
        return Fish(cwd, env)
    return Typed(_COMMANDS[name], _setup(name), cwd, env)


class Fish:
    """fish, which has a command for the question."""

    def __init__(self, cwd: Path, env: dict[str, str]) -> None:
        self._cwd, self._env = cwd, env

    def offers(self, line: str) -> list[str]:
        ask = f"source {folder() / 'terp.fish'}; complete -C {shlex.quote(line)}"
        command = ["fish", "--no-config", "-c", ask]
        ran = subprocess.run(
            command,
            cwd=self._cwd,
            env=self._env,
            capture_output=True,
            text=True,
            check=True,
            timeout=_TIMEOUT_S,
        )
        assert ran.stderr == ""
        return [offer.partition("\t")[0] for offer in ran.stdout.splitlines()]

    def close(self) -> None:
        pass


class Typed:
    """bash or zsh on a terminal: all that is offered is put on the line, and the line is entered."""

    def __init__(self, command: list[str], setup: str, cwd: Path, env: dict[str, str]) -> None:
        self._replies, replies = os.pipe()
        self._terminal, theirs = pty.openpty()
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**env, "TERM": "dumb", "REPLIES": str(replies)},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            pass_fds=[replies],
            start_new_session=True,
        )
        os.close(theirs)
        os.close(replies)
        self.shown = bytearray()
        threading.Thread(target=self._look, daemon=True).start()
        self._type(f"{setup}terp ready\n")
        assert self._reply() == ["ready"]

    def offers(self, line: str) -> list[str]:
        self._type(f"{line}\x18a\n")
        *before, last = line.split(" ")
        words = self._reply()[len(before) - 1 :]
        return [word for word in words if word != last]

    def close(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._replies)

    def _type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def _reply(self) -> list[str]:
        """The words of the line that was entered."""
        reply = b""
        while not reply.endswith(b"\n"):
            ready, _, _ = select.select([self._replies], [], [], _TIMEOUT_S)
            assert ready, bytes(self.shown).decode(errors="replace")
            reply += os.read(self._replies, 65_536)
        return reply[:-1].decode().split("\0")[:-1]

    def _look(self) -> None:
        """Take what the shell writes, so that it never waits for a reader."""
        try:
            while shown := os.read(self._terminal, 65_536):
                self.shown += shown
        except OSError:
            pass  # the shell has gone
        os.close(self._terminal)


_COMMANDS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
_TELL = r"""terp() { printf '%s\0' "$@" >&$REPLIES; printf '\n' >&$REPLIES; }"""


def _setup(name: str) -> str:
    where = shlex.quote(str(folder()))
    if name == "bash":
        return (
            "bind 'set enable-bracketed-paste off'\n"
            f"source {where}/terp.bash\n{_TELL}\n"
            """bind '"\\C-xa": insert-completions'\n"""
        )
    return (
        f"unset zle_bracketed_paste\nfpath=({where} $fpath)\n{_TELL}\n"
        "autoload -Uz compinit && compinit -D -u\n"
        "zle -C all-offered complete-word _generic\n"
        "bindkey '^Xa' all-offered\n"
        "zstyle ':completion:all-offered::::' completer _all_matches _complete\n"
        "zstyle ':completion:*' insert true\n"
    )
