"""Terminals: the standard input of cells, and `pty COMMAND...`, which runs a command on a terminal.

A process that waits for a line is found in /proc; then the user is asked. Run as a program, this module is
`pty`: it is for commands that need a terminal, and passes on their output.
"""

import fcntl
import os
import platform
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from terp.kernels.hosts.askpass import ask
from terp.kernels.hosts.processes import descendants

if TYPE_CHECKING:
    from terp.kernels.hosts.streams import Printer

# Numbers of system calls: read and readv, poll and ppoll, select and pselect6, epoll_wait and its kin.
_CALLS = {
    "x86_64": ((0, 19), (7, 271), (23, 270), (232, 281, 441)),
    "aarch64": ((63, 65), (73,), (72,), (22, 441)),
}
# An entry of poll(2): file descriptor, requested events, returned events.
_ENTRY = "ihh"
_MOST = 64


def can_detect_reads() -> bool:
    """Return True if /proc shows the system call in which a process sleeps."""
    return platform.machine() in _CALLS and os.access("/proc/self/syscall", os.R_OK)


@dataclass(frozen=True, slots=True)
class WaitingProcess:
    """A process that waits for a line; `sleeps` counts its waits, so that a new wait is a new object."""

    pid: int
    sleeps: int

    @property
    def name(self) -> str:
        """The name of its program; "" when it is gone."""
        try:
            return Path("/proc", str(self.pid), "comm").read_text().strip()
        except OSError:
            return ""


def waiting_process(
    pids: Iterable[int], terminals: Collection[str], *, asked: bool, secret: bool
) -> WaitingProcess | None:
    """Return the first of these processes that waits for a line from one of `terminals` (device paths).

    A process that reads does wait. One that waits for several descriptors counts if the terminal is among
    them and something was `asked`: servers always watch their terminal. One that cannot be inspected, such as
    `su`, counts if the terminal is set to hide typed text (`secret`).
    """
    for pid in pids:
        reader = _reader(pid, terminals, asked=asked) or (_foreign(pid) if secret else None)
        if reader is not None:
            return reader
    return None


def _reader(pid: int, terminals: Collection[str], *, asked: bool) -> WaitingProcess | None:
    process = Path("/proc", str(pid))
    try:
        for task in (process / "task").iterdir():
            sleeps = _sleeps(task)
            awaited = _awaited(task, asked=asked)
            # A process that has run in between may have other open files than those that it waited for.
            if any(_is_one(process / "fd" / str(one), terminals) for one in awaited) and sleeps == _sleeps(
                task
            ):
                return WaitingProcess(pid, sleeps)
    except OSError:
        pass
    return None


def _foreign(pid: int) -> WaitingProcess | None:
    """Return the process if it is another user's."""
    process = Path("/proc", str(pid))
    try:
        (process / "syscall").read_text()
    except PermissionError:
        return WaitingProcess(pid, _sleeps(process))
    except OSError:
        pass
    return None


def _sleeps(task: Path) -> int:
    lines = (task / "status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches:")), 0)


def _is_one(link: Path, terminals: Collection[str]) -> bool:
    try:
        return str(link.readlink()) in terminals
    except OSError:
        return False


def _awaited(task: Path, *, asked: bool) -> Sequence[int]:
    """Return the file descriptors from which a task waits to read."""
    try:
        words = (task / "syscall").read_text().split()
        number, arguments = int(words[0]), [int(word, 16) for word in words[1:7]]
        reads, polls, selects, epolls = _CALLS[platform.machine()]
        if number in reads:
            return arguments[:1]
        if not asked:
            return ()
        if number in polls:
            return _polled(task, arguments[0], arguments[1])
        if number in selects:
            return _selected(task, arguments[0], arguments[1])
        return _watched(task, arguments[0]) if number in epolls else ()
    except (OSError, ValueError, struct.error):
        # It is running, has ended, or cannot be inspected.
        return ()


def _polled(task: Path, address: int, count: int) -> Sequence[int]:
    data = _memory(task, address, min(count, _MOST) * struct.calcsize(_ENTRY))
    return [descriptor for descriptor, events, _ in struct.iter_unpack(_ENTRY, data) if events & 1]


def _selected(task: Path, highest: int, address: int) -> Sequence[int]:
    if not address:
        return ()
    bits = int.from_bytes(_memory(task, address, (min(highest, _MOST) + 7) // 8), sys.byteorder)
    return [descriptor for descriptor in range(min(highest, _MOST)) if bits >> descriptor & 1]


def _watched(task: Path, epoll: int) -> Sequence[int]:
    lines = (task.parent.parent / "fdinfo" / str(epoll)).read_text().splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("tfd:")]


def _memory(task: Path, address: int, size: int) -> bytes:
    with (task / "mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(size)


# A program without output for so long may be waiting for input; the interval of the looks doubles.
_FIRST_LOOK_S, _RAREST_LOOK_S = 0.05, 0.4
_END_OF_FILE = b"\x04"

Ask = Callable[[str, bool], str | None]
"""Asks the user; the arguments are a prompt, and True for a hidden answer."""


class TerminalInput:
    """The terminal, and the user who types on it when a program reads.

    Not a pipe: programs such as ripgrep search a pipe on their standard input instead of the directory. It is
    no controlling terminal, so programs cannot ask for passwords on /dev/tty without terp. `number` is the
    file descriptor for programs.
    """

    def __init__(self) -> None:
        self._master, self.number = os.openpty()
        os.set_blocking(self._master, False)
        self._name = os.ttyname(self.number)
        self._settings = _without_keys(termios.tcgetattr(self.number))
        self._due = self._pause = 0.0
        self._written = 0
        self._ended = False
        self._answered: WaitingProcess | None = None

    def begin(self) -> None:
        """Begin a cell: discard text typed for the previous one."""
        # A program may have made it non-blocking.
        os.set_blocking(self.number, True)
        termios.tcsetattr(self.number, termios.TCSANOW, self._settings)
        termios.tcflush(self.number, termios.TCIOFLUSH)
        self._ended = False
        self._put_off()

    def _put_off(self) -> None:
        """Delay the next look, because there was output just now."""
        self._pause = _FIRST_LOOK_S
        self._due = time.monotonic() + self._pause

    def next_look_s(self) -> float:
        """Seconds until the next `look` is due."""
        return max(0.0, self._due - time.monotonic())

    def look(self, shell: int, printer: "Printer", ask: Ask) -> None:
        """Ask the user if the shell or a program below it waits for input. Does nothing before it is due.

        An unfinished last line of the printer is the question; output since the last look delays the next
        one. After the first end of file all later reads of the cell get one too.
        """
        if printer.written != self._written:
            self._written = printer.written
            self._put_off()
        last_line = printer.last_line
        if self.next_look_s() > 0:
            return
        self._pause = min(_RAREST_LOOK_S, self._pause * 2)
        self._due = time.monotonic() + self._pause
        self._discard_echo()
        pids = [shell, *descendants(shell)]
        reader = waiting_process(
            pids, (self._name,), asked=bool(last_line.strip()), secret=hides_lines(self.number)
        )
        if reader is not None and reader != self._answered:
            # Until it wakes up it still appears to wait; do not ask twice.
            self._answered = reader
            self._type(self._answer(reader, last_line, ask))
            self._put_off()

    def _answer(self, reader: WaitingProcess, last_line: str, ask: Ask) -> str | None:
        if self._ended:
            return None
        # A printed question is shown already.
        prompt = "" if last_line.strip() else f"{reader.name} reads a line: "
        answer = ask(prompt, hides_lines(self.number))
        self._ended = answer is None
        return answer

    def _type(self, answer: str | None) -> None:
        text = _END_OF_FILE if answer is None else answer.encode(errors="surrogateescape") + b"\n"
        with suppress(BlockingIOError):
            os.write(self._master, text)

    def _discard_echo(self) -> None:
        """Discard the terminal's echo of the typed text, which the user has seen."""
        with suppress(BlockingIOError):
            while os.read(self._master, 4096):
                pass


def hides_lines(terminal: int) -> bool:
    """Return True if a program reads a password there: line mode without echo."""
    modes = termios.tcgetattr(terminal)[3]
    return bool(modes & termios.ICANON and not modes & termios.ECHO)


def _without_keys(settings: list[int | list[bytes | int]]) -> list[int | list[bytes | int]]:
    """Return terminal settings in which only the end of file has a meaning: lines arrive as typed."""
    changed = list(settings)
    keys = changed[6]
    assert isinstance(keys, list)
    disabled = os.fpathconf(0, "PC_VDISABLE") if hasattr(os, "fpathconf") else 0
    plain: list[bytes | int] = [bytes([disabled & 255])] * len(keys)
    plain[termios.VEOF], plain[termios.VMIN] = _END_OF_FILE, b"\x01"
    changed[6] = plain
    for at, flags in ((0, termios.IXON | termios.ICRNL), (3, termios.ISIG | termios.IEXTEN)):
        held = changed[at]
        assert isinstance(held, int)
        changed[at] = held & ~flags
    return changed


_QUIET_S = 0.1
_LINES = 24
# Indexes into terminal settings.
_OUTPUT, _LOCAL = 1, 3


class TerminalCommand:
    """A command on a new terminal. `questions` is the path of the host's socket for questions."""

    def __init__(self, questions: str, argv: list[str]) -> None:
        self._questions = questions
        self._master, slave = os.openpty()
        # Programs read passwords by the second name.
        self._names = (os.ttyname(slave), "/dev/tty")
        _prepare(slave)
        self._pid = os.fork()
        if not self._pid:
            os.login_tty(slave)
            # This program ignores it: an interrupt is for the command.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            _become(argv)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.close(slave)
        self._last_line = ""
        self._ended = False
        self._answered: WaitingProcess | None = None

    def run(self) -> int:
        """Pass on its output until it ends; return its exit status as a shell would."""
        while self._passed_on():
            pass
        _, status = os.waitpid(self._pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGINT:
            # A shell runs the next command of its line unless this one ends by SIGINT.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        return 128 - code if code < 0 else code

    def _passed_on(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], _QUIET_S)
        if not ready:
            self._look()
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:
            # All other ends of the terminal are closed.
            return False
        text = data.decode(errors="replace")
        self._last_line = (self._last_line + text).rpartition("\n")[2][-1000:]
        while data:
            data = data[os.write(1, data) :]
        return bool(text)

    def _look(self) -> None:
        asked = bool(self._last_line.strip())
        pids = [self._pid, *descendants(self._pid)]
        reader = waiting_process(pids, self._names, asked=asked, secret=hides_lines(self._master))
        if reader is None or reader == self._answered:
            return
        self._answered = reader
        answer = None if self._ended else self._answer()
        self._ended = answer is None
        os.write(self._master, b"\x04" if answer is None else answer.encode() + b"\n")
        self._last_line = ""

    def _answer(self) -> str | None:
        try:
            return ask(self._questions, "", secret=hides_lines(self._master))
        except OSError:
            return None


def _prepare(terminal: int) -> None:
    size = struct.pack("HHHH", _LINES, int(os.environ.get("COLUMNS") or 80), 0, 0)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
    settings = termios.tcgetattr(terminal)
    # Lines end as in a pipe, and control keys are not echoed.
    settings[_OUTPUT] &= ~termios.ONLCR
    settings[_LOCAL] &= ~termios.ECHOCTL
    termios.tcsetattr(terminal, termios.TCSANOW, settings)


def _become(argv: list[str]) -> NoReturn:
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - the user named the command
    except OSError as error:
        os.write(2, f"pty: {argv[0]}: {error.strerror}\n".encode())
    os._exit(127)


def main(questions: str, *argv: str) -> int:
    """Run a command; return 2 if there is none."""
    if not argv:
        os.write(2, b"pty: name a command to run on a terminal: pty COMMAND...\n")
        return 2
    return TerminalCommand(questions, list(argv)).run()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
