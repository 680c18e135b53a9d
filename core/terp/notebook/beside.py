"""terp's process beside the kernel, and messages to it: lines of JSON on a socket."""

import base64
import json
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MODULE = "terp_cli.notebook"
# Packages that the process needs and that are easily left out of a kernel's environment.
NEEDS = ("terp_cli", "httpx", "jiter", "litellm", "markdown_it", "nh3", "psutil", "yaml")
# The line that starts a script of Python, or the line below it where the path is long.
INTERPRETER = re.compile(r"(?:^#!|^'''exec' )\"?(/[^\"\n]*?python[^\"\s]*)", re.MULTILINE)
BLOCK = 1 << 16


class Ended(Exception):
    """The process has ended, or did not start; the message says why."""

    def _render_traceback_(self) -> list[str]:
        return [f"terp: {self}"]


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
    """The process, started with this object; it ends with the kernel."""

    def __init__(self) -> None:
        python = python_of_terp()
        if not python:
            raise Ended("terp is not whole in this environment, and no `terp` is on PATH. Install it there.")
        self._socket, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        # A session of its own: Jupyter and terminals send interrupts to the whole process group. `-P`: a file
        # beside the notebook must not replace a module.
        self._process = subprocess.Popen(
            [python, "-P", "-m", MODULE],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            start_new_session=True,
        )
        theirs.close()
        self._lock = threading.Lock()
        self._unread = b""
        self._waits = self._interrupted = False

    def on_interrupt(self, *_: Any) -> None:
        """Handle SIGINT while messages are received: an interrupt ends a wait, and loses no message."""
        if self._waits:
            raise KeyboardInterrupt
        self._interrupted = True

    def send(self, **message: Any) -> None:
        """Send a message; also in threads, and in code that can be interrupted.

        Raises:
            Ended: the process has ended.
        """
        line = json.dumps(message, default=_plain).encode() + b"\n"
        with uninterrupted(), self._lock:
            try:
                self._socket.sendall(line)
            except OSError:
                raise self._ended() from None

    def receive(self) -> dict[str, Any]:
        """Return the next message.

        Raises:
            Ended: the process has ended.
            KeyboardInterrupt: there was an interrupt (`on_interrupt`).
        """
        while b"\n" not in self._unread:
            self._wait()
            try:
                block = self._socket.recv(BLOCK)
            except ConnectionError:
                block = b""
            self._unread += block
            if not block:
                raise self._ended()
        line, _, self._unread = self._unread.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        """End the process. Harmless when called twice."""
        self._socket.close()
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._errors.close()

    def _wait(self) -> None:
        self._waits = True
        try:
            if self._interrupted:
                self._interrupted = False
                raise KeyboardInterrupt
            select.select([self._socket], [], [])
        finally:
            self._waits = False

    def _ended(self) -> Ended:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._errors.seek(0)
        last = self._errors.read().decode(errors="replace").strip()[-1000:]
        return Ended(f"its process has ended. {last}".rstrip())


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay interrupts until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _plain(value: Any) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
