"""terp's process beside the kernel, and messages to it: lines of JSON on a socket."""

import base64
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MODULE = "terp_cli.notebook"
# Packages that the process needs and that are easily left out of a kernel's environment.
NEEDS = ("terp_cli", "httpx", "jiter", "litellm", "markdown_it", "nh3", "psutil", "yaml")
# The line that starts a script of Python, or the line below it where the path is long.
INTERPRETER = re.compile(r"(?:^#!|^'''exec' )\"?(/[^\"\n]*?python[^\"\s]*)", re.MULTILINE)
MOST_INTERRUPTS = 3


class Stopped(Exception):
    """A turn without an answer: the cells after it in "Run All" do not run. The message is for the user."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def python_of_terp() -> str:
    """Return a Python that can run terp: this one, else that of the installed `terp`; "" for none."""
    if all(find_spec(name) for name in NEEDS):
        return sys.executable
    try:
        with Path(shutil.which("terp") or "").open(encoding="utf-8", errors="replace") as script:
            found = INTERPRETER.search(script.read(1000))
    except OSError:
        return ""
    return found[1] if found else ""


class TerpProcess:
    """The process, started with this object; it ends with the kernel.

    `interrupts` counts the interrupts of a turn. While `interrupt` handles SIGINT, no message is lost by one.
    """

    def __init__(self) -> None:
        python = python_of_terp()
        if not python:
            raise Stopped("terp: packages are missing in this environment, and no `terp` is on PATH.")
        self.interrupts = 0
        self._socket, theirs = socket.socketpair()
        self._lines = self._socket.makefile("rb")
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        # The process inherits the mask, and removes it once it can handle an interrupt.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            # A session of its own: Jupyter and terminals send interrupts to the whole process group. `-P`: a
            # file beside the notebook must not replace a module.
            self._process = subprocess.Popen(
                [python, "-P", "-m", MODULE],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                start_new_session=True,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()

    def interrupt(self, *_: Any) -> None:
        """Interrupt the turn; as a handler of SIGINT, too. The third time, end the process."""
        self.interrupts += 1
        if self.interrupts < MOST_INTERRUPTS:
            self._process.send_signal(signal.SIGINT)
        else:
            self._process.kill()

    def send(self, **message: Any) -> None:
        """Send a message.

        Raises:
            Stopped: the process has ended.
        """
        line = json.dumps(message, default=_plain).encode() + b"\n"
        try:
            self._socket.sendall(line)
        except OSError:
            raise self._ended() from None

    def receive(self) -> dict[str, Any]:
        """Return the next message.

        Raises:
            Stopped: the process has ended.
        """
        try:
            line = self._lines.readline()
        except ConnectionError:
            line = b""
        if not line:
            raise self._ended()
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        """End the process. Harmless when called twice."""
        self._lines.close()
        self._socket.close()
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._errors.close()

    def _ended(self) -> Stopped:
        if self.interrupts >= MOST_INTERRUPTS:
            return Stopped("terp did not stop, so the conversation was ended.")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._errors.seek(0)
        last = self._errors.read().decode(errors="replace").strip()[-1000:]
        return Stopped(f"terp: its process has ended. {last}".rstrip())


def _plain(value: Any) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
