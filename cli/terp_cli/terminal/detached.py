"""A terminal that outlives its window: a program on a pseudo-terminal, which one window at a time can show.

    path = await start_host(folder, command, size)   # the host, a process of its own, and its socket
    await show(path, keyboard=0, screen=1)           # shows it in this window, until it ends or is left
    link = HostLink.found(environ)                   # in the program: it draws only while a window shows it

Messages on the socket are a letter, a length of 4 bytes, and so many bytes.
"""

import asyncio
import json
import os
import pty
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import tty
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from terp.text.files import write_whole

VARIABLE = "TERP_DETACHED"
"""The variable with the id of the host's program and the path of its socket, in the program's environment."""
SUFFIX, ENDED, OPENED = ".sock", ".ended", ".opened"
_HEAD = struct.Struct("!cI")
_PIECE = 1 << 16
# A window with more unread output than this is closed.
_MOST_BEHIND = 1 << 22
_LAST = 1 << 12
# `sun_path` holds 107 bytes on Linux and 103 on macOS.
_LONGEST_PATH = 100
_ANSWER_S = 2.0
# The end of a shorter turn is not notified.
_LONG_TURN_S = 10.0
# The last removes the prompt that a program still shows when another window takes it over.
_OWN_MODES = "\x1b[?2026l\x1b[?2004l\x1b[?1004l\x1b[?7h\x1b[?25h\x1b[m\r\x1b[J"
Size = tuple[int, int]
"""Columns and rows."""


def _message(kind: bytes, content: bytes = b"") -> bytes:
    return _HEAD.pack(kind, len(content)) + content


async def _messages(reader: asyncio.StreamReader) -> AsyncIterator[tuple[bytes, bytes]]:
    """Yield the messages of a connection, until it ends."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            kind, length = _HEAD.unpack(await reader.readexactly(_HEAD.size))
            yield kind, await reader.readexactly(length)


@cache
def _short(path: Path) -> str:
    """Return a path that is not too long for a socket."""
    if len(os.fsencode(path)) <= _LONGEST_PATH or not Path("/proc/self/fd").exists():
        return str(path)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    return f"/proc/self/fd/{folder}/{path.name}"


class TerminalHost:
    """The process that holds the pseudo-terminal of a program, until the program ends.

    Windows send A (show me the terminal of this size), K (keys), S (size); the program sends R (a state, as
    JSON), T (it reads keys now) and D (leave the window); others send Q (reply with the state) and E (end
    the program, which is killed after `ends_s` seconds).
    """

    def __init__(self, path: Path, size: Size, *, ends_s: float = 15.0) -> None:
        self._path = path
        self._size = size
        self._ends_s = ends_s
        self._windows: set[asyncio.StreamWriter] = set()
        self._program: asyncio.StreamWriter | None = None
        self._state = dict[str, Any](state="starting", prompt="", since=time.time(), cwd=str(Path.cwd()))
        self._unwritten = self._last = b""
        # `_unseen`: something was drawn before a window came.
        self._unseen = self._reads_keys = False
        self._ended = asyncio.Event()

    async def run(self, command: list[str]) -> None:
        """Run the command on the terminal, and serve windows until it has ended."""
        new = self._path.with_suffix(".new")
        server = await asyncio.start_unix_server(self._serve, _short(new))
        # A socket that refuses, because nothing listens yet, counts as that of a killed host.
        new.rename(self._path)
        child, self._terminal = pty.fork()
        if child == 0:
            os.execve(command[0], command, {**os.environ, VARIABLE: f"{os.getpid()}:{self._path}"})  # noqa: S606
        self._child = child
        os.set_blocking(self._terminal, False)
        self._resize(self._size)
        loop = asyncio.get_running_loop()
        loop.add_reader(self._terminal, self._read)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        try:
            await self._ended.wait()
        finally:
            _, status = await asyncio.to_thread(os.waitpid, child, 0)
            if not self._windows:
                self._report_end(os.waitstatus_to_exitcode(status))
            for path in (self._path, self._path.with_suffix(OPENED)):
                path.unlink(missing_ok=True)
            # A socket that refuses would count as that of a killed host.
            server.close()
            for window in self._windows:
                window.close()

    def _report_end(self, code: int) -> None:
        """Store how the program ended, for `terp ps`: no window has shown it."""
        last = self._last.decode(errors="replace")
        self._report({"state": f"ended with exit code {code}" if code else "ended", "last": last})
        self._store(ENDED)

    def _store(self, suffix: str) -> None:
        write_whole(self._path.with_suffix(suffix), json.dumps(self._state).encode())

    def _read(self) -> None:
        try:
            drawn = os.read(self._terminal, _PIECE)
        except BlockingIOError:
            return
        except OSError:
            drawn = b""
        if not drawn:
            asyncio.get_running_loop().remove_reader(self._terminal)
            self._ended.set()
        self._last = (self._last + drawn)[-_LAST:]
        self._unseen = self._unseen or not self._windows
        for window in tuple(self._windows):
            if window.transport.get_write_buffer_size() > _MOST_BEHIND:
                window.close()
                self._left(window)
            else:
                window.write(drawn)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers: Mapping[bytes, Callable[[asyncio.StreamWriter, bytes], None]] = {
            b"A": self._show,
            b"K": lambda _, keys: self._write(keys),
            b"S": lambda _, size: self._resize(json.loads(size)),
            b"R": self._report_of,
            b"T": lambda *_: self._read_keys(),
            b"D": lambda *_: self._close_windows(),
            b"Q": self._reply,
            b"E": lambda *_: self._end(),
        }
        async for kind, content in _messages(reader):
            answers[kind](writer, content)
        writer.close()
        if writer in self._windows:
            self._left(writer)

    def _show(self, window: asyncio.StreamWriter, size: bytes) -> None:
        if self._windows:
            # One window at a time: two would have to agree on a size.
            self._close_windows()
            self._tell(b"L")
        self._resize(json.loads(size))
        self._windows.add(window)
        self._tell(b"A")

    def _report_of(self, program: asyncio.StreamWriter, facts: bytes) -> None:
        if self._program is not program:
            self._program = program
            if self._unseen or not self._windows:
                self._tell(b"L")
            if self._windows:
                self._tell(b"A")
        self._report(json.loads(facts))

    def _end(self) -> None:
        os.kill(self._child, signal.SIGHUP)
        asyncio.get_running_loop().call_later(self._ends_s, self._kill)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        # A process that the program started may still have the terminal open.
        self._ended.set()

    def _close_windows(self) -> None:
        for window in self._windows:
            window.close()
        self._windows.clear()

    def _reply(self, writer: asyncio.StreamWriter, _: bytes) -> None:
        state = {**self._state, "windows": len(self._windows)}
        writer.write(_message(b"Q", json.dumps(state).encode()))

    def _left(self, window: asyncio.StreamWriter) -> None:
        self._windows.discard(window)
        if not self._windows:
            self._tell(b"L")

    def _tell(self, kind: bytes) -> None:
        """Report to the program that a window came (A), or that it left (L)."""
        self._reads_keys = self._reads_keys and kind != b"L"
        if self._program is not None:
            self._program.write(_message(kind))

    def _resize(self, size: Size) -> None:
        termios.tcsetwinsize(self._terminal, (size[1], size[0]))

    def _read_keys(self) -> None:
        self._reads_keys = True
        self._write(b"")

    def _write(self, keys: bytes) -> None:
        self._unwritten += keys
        if not self._reads_keys:
            # The terminal would edit lines, and turn Enter into a line feed.
            return
        with suppress(BlockingIOError, OSError):
            self._unwritten = self._unwritten[os.write(self._terminal, self._unwritten) :]
        loop = asyncio.get_running_loop()
        loop.remove_writer(self._terminal)
        if self._unwritten:
            loop.add_writer(self._terminal, self._write, b"")

    def _report(self, facts: Mapping[str, Any]) -> None:
        before, seconds = self._state["state"], time.time() - self._state["since"]
        changed = facts.get("state", before) != before
        self._state |= {**facts, **({"since": time.time()} if changed else {})}
        if changed and (prompt := facts["state"].partition("running: ")[2]):
            self._state["prompt"] = prompt
        if "session" in facts:
            # `terp ps` reads this file if the host was killed, or the machine restarted.
            with suppress(OSError):
                self._store(OPENED)
        state, prompt = str(self._state["state"]), str(self._state["prompt"])
        is_over = before.startswith("running") and seconds > _LONG_TURN_S and state == "waiting"
        if changed and not self._windows and (is_over or not state.startswith(("running", "waiting"))):
            _call_user(f"{state}: {prompt or self._state['cwd']}")


def _call_user(text: str) -> None:
    """Show a notification on the user's desktop, if this machine has one."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    for program, arguments, needs in (
        ("notify-send", ["terp", text], ("DISPLAY", "WAYLAND_DISPLAY")),
        ("osascript", ["-e", f'display notification "{quoted}" with title "terp"'], ("HOME",)),
    ):
        found = shutil.which(program)
        if found and any(os.environ.get(name) for name in needs):
            with suppress(OSError):
                nowhere = subprocess.DEVNULL
                subprocess.Popen([found, *arguments], stdin=nowhere, stdout=nowhere, stderr=nowhere)
            return


def start_host(path: Path, command: Sequence[str], size: Size, environ: Mapping[str, str], cwd: Path) -> str:
    """Start a host with its socket at `path`, and its program; return "" or why it cannot."""
    host = [sys.executable, "-P", "-m", "terp_cli.terminal.detached", str(path), json.dumps(size), *command]
    process = subprocess.Popen(
        host,
        cwd=cwd,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        if line == "ready\n":
            return ""
        lines.append(line)
    return lines[-1].strip() if lines else "its process ended"


def state_of(path: Path) -> dict[str, Any]:
    """Return the state of the program behind a socket.

    Raises:
        OSError: no host listens there, or it does not answer.
    """
    with _connected(path) as host, host.makefile("rb") as answers:
        host.settimeout(_ANSWER_S)
        host.sendall(_message(b"Q"))
        head = answers.read(_HEAD.size)
        if len(head) < _HEAD.size:
            raise ConnectionResetError("The host has ended.")
        state: dict[str, Any] = json.loads(answers.read(_HEAD.unpack(head)[1]))
        return state


def end(path: Path) -> None:
    """End the program behind a socket; return when its host has ended.

    Raises:
        OSError: no host listens there.
    """
    with _connected(path) as host:
        host.sendall(_message(b"E"))
        host.recv(1)


def _connected(path: Path) -> socket.socket:
    host = socket.socket(socket.AF_UNIX)
    try:
        host.connect(_short(path))
    except BaseException:
        host.close()
        raise
    return host


async def show(path: Path, keyboard: int, screen: int) -> None:
    """Show the program in this window; return when it ends or leaves the window.

    Raises:
        OSError: no host listens there.
    """
    reader, writer = await asyncio.open_unix_connection(_short(path))
    loop = asyncio.get_running_loop()

    def send(kind: bytes, content: bytes) -> None:
        writer.write(_message(kind, content))

    def typed() -> None:
        # The window may have been closed.
        with suppress(OSError):
            if keys := os.read(keyboard, _PIECE):
                send(b"K", keys)
                return
        loop.remove_reader(keyboard)
        writer.close()

    def size() -> bytes:
        return json.dumps(tuple(os.get_terminal_size(screen))).encode()

    modes = termios.tcgetattr(keyboard)
    tty.setraw(keyboard, termios.TCSANOW)
    send(b"A", size())
    loop.add_reader(keyboard, typed)
    loop.add_signal_handler(signal.SIGWINCH, lambda: send(b"S", size()))
    try:
        while drawn := await reader.read(_PIECE):
            while drawn:
                drawn = drawn[os.write(screen, drawn) :]
    except ConnectionError:
        pass
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)
        loop.remove_reader(keyboard)
        writer.close()
        # The window may be gone, and `termios.error` is no OSError.
        with suppress(OSError, termios.error):
            os.write(screen, _OWN_MODES.encode())
            termios.tcsetattr(keyboard, termios.TCSADRAIN, modes)


class HostLink:
    """The connection of a program to its host. While no window shows the program, it draws nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._facts: dict[str, Any] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._has_window = self._leaves = self._rests = False
        self._shown = threading.Event()
        self._left = asyncio.Event()

    @classmethod
    def found(cls, environ: Mapping[str, str]) -> "HostLink | None":
        """Return the connection of this process to its host; None if it has none."""
        process, _, path = environ.get(VARIABLE, "").partition(":")
        # The programs that it starts have the variable too.
        return cls(Path(path)) if process == str(os.getpid()) else None

    def report(self, **facts: Any) -> None:
        """Report facts on the program's state, for `terp ps`."""
        self._facts |= facts
        self._send(b"R", json.dumps(facts).encode())

    def release(self) -> None:
        """Return the terminal to the program, which ends while no window shows it."""
        self._shown.set()

    def leave(self) -> None:
        """Leave the window."""
        self._leaves = True
        self._left.set()

    async def follow(
        self, away: Callable[[Callable[[], None]], Awaitable[object]], redraw: Callable[[], None]
    ) -> None:
        """Draw only while a window shows the program: `away` gives its terminal to a function.

        `redraw` is called when a window came.
        """
        reader, self._writer = await asyncio.open_unix_connection(_short(self._path))
        self.report(**self._facts)
        rests = asyncio.create_task(self._rest(away, partial(self._draw_if_seen, redraw)))
        try:
            async for kind, _ in _messages(reader):
                self._has_window = kind == b"A"
                if not self._has_window:
                    self._left.set()
                self._draw_if_seen(redraw)
        finally:
            rests.cancel()
            self._shown.set()
            self._writer.close()

    async def _rest(
        self, away: Callable[[Callable[[], None]], Awaitable[object]], seen: Callable[[], None]
    ) -> None:
        loop = asyncio.get_running_loop()

        def rested() -> None:
            # From here on the program draws nothing.
            self._rests = True
            if self._leaves:
                self._leaves = False
                self._send(b"D")
            else:
                seen()

        def wait() -> None:
            loop.call_soon_threadsafe(rested)
            self._shown.wait()

        while True:
            await self._left.wait()
            self._left.clear()
            self._shown.clear()
            await away(wait)
            self._send(b"T")

    def _draw_if_seen(self, redraw: Callable[[], None]) -> None:
        if not self._has_window:
            return
        if self._rests:
            self._rests = False
            redraw()
            self._shown.set()
        elif not self._left.is_set():
            self._send(b"T")

    def _send(self, kind: bytes, content: bytes = b"") -> None:
        if self._writer is not None:
            self._writer.write(_message(kind, content))


if __name__ == "__main__":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    asyncio.run(TerminalHost(Path(sys.argv[1]), json.loads(sys.argv[2])).run(sys.argv[3:]))
