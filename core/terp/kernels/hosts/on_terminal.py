"""`pty COMMAND...` in a shell cell: runs a command on a terminal of its own.

For programs that insist on one. What it shows is passed on; when it reads, the user is asked.
"""

import fcntl
import os
import select
import signal
import struct
import sys
import termios
from typing import NoReturn

from terp.kernels.hosts.askpass import ask
from terp.kernels.hosts.processes import descendants
from terp.kernels.hosts.terminal_input import WaitingProcess, hides_lines, waiting_process

_QUIET_S = 0.1
_LINES = 24
# Places in terminal settings.
_OUTPUT, _LOCAL = 1, 3


class OnTerminal:
    """A command on a terminal. `questions` is the socket of the host."""

    def __init__(self, questions: str, argv: list[str]) -> None:
        self._questions = questions
        self._master, slave = os.openpty()
        # By the second name programs read passwords.
        self._names = (os.ttyname(slave), "/dev/tty")
        _prepare(slave)
        self._pid = os.fork()
        if not self._pid:
            os.login_tty(slave)
            # This program itself ignores it: an interrupt is for the command.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            _become(argv)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.close(slave)
        self._last_line = ""
        self._ended = False
        self._answered: WaitingProcess | None = None

    def run(self) -> int:
        """Pass on what it shows until it ends; its exit status, as a shell has it."""
        while self._passed_on():
            pass
        _, status = os.waitpid(self._pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGINT:
            # A shell that waits goes on with the next command unless what it waits for ended so.
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
            # Nobody has the terminal open any more.
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
    # Lines end as in a pipe, and keys are not spelled out.
    settings[_OUTPUT] &= ~termios.ONLCR
    settings[_LOCAL] &= ~termios.ECHOCTL
    termios.tcsetattr(terminal, termios.TCSANOW, settings)


def _become(argv: list[str]) -> NoReturn:
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - it is what the user asks for
    except OSError as error:
        os.write(2, f"pty: {argv[0]}: {error.strerror}\n".encode())
    os._exit(127)


def main(questions: str, *argv: str) -> int:
    """Run a command; 2 when there is none."""
    if not argv:
        os.write(2, b"pty: name a command to run on a terminal: pty COMMAND...\n")
        return 2
    return OnTerminal(questions, list(argv)).run()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
