"""A cell's standard input: a terminal on which nobody types until a program waits for a line."""

import os
import termios
import time
from collections.abc import Callable
from contextlib import suppress

from terp.kernels.hosts.processes import descendants
from terp.kernels.hosts.readers import Reader, can_tell, reader_of

# A program that puts out nothing for so long may be waiting for input; the look is repeated ever more rarely.
_FIRST_LOOK_S, _RAREST_LOOK_S = 0.05, 0.4
_END_OF_FILE = b"\x04"

Ask = Callable[[str, bool], str | None]
"""Asks the person: a prompt, and whether the answer is secret."""


class TerminalInput:
    """The terminal, and the person who types on it when a program reads.

    A pipe would not do: programs such as ripgrep search a pipe on their standard input instead of the
    directory. It is nobody's controlling terminal, so passwords are not asked past terp on /dev/tty.
    `number` is the descriptor for programs.
    """

    def __init__(self) -> None:
        self._master, self.number = os.openpty()
        os.set_blocking(self._master, False)
        self._name = os.ttyname(self.number)
        self._settings = _without_keys(termios.tcgetattr(self.number))
        self._due = self._pause = 0.0
        self._ended = False
        self._answered: Reader | None = None

    @staticmethod
    def works() -> bool:
        """Whether it can be told here that a program waits for input."""
        return can_tell()

    def begin(self) -> None:
        """A cell begins: nothing is left of what was typed for the one before it."""
        termios.tcsetattr(self.number, termios.TCSANOW, self._settings)
        termios.tcflush(self.number, termios.TCIOFLUSH)
        self._ended = False
        self.put_off()

    def put_off(self) -> None:
        """Something was put out just now: the next look is not due yet."""
        self._pause = _FIRST_LOOK_S
        self._due = time.monotonic() + self._pause

    def next_look_s(self) -> float:
        """How long until `look` has something to do."""
        return max(0.0, self._due - time.monotonic())

    def look(self, shell: int, last_line: str, ask: Ask) -> None:
        """If it is time: ask the person when the shell or a program below it waits for input.

        `last_line` is an unfinished line of output, which is the question. After the first end of file
        all later reads of the cell get one, too.
        """
        if self.next_look_s() > 0:
            return
        self._pause = min(_RAREST_LOOK_S, self._pause * 2)
        self._due = time.monotonic() + self._pause
        self._discard_echo()
        pids = [shell, *descendants(shell)]
        reader = reader_of(
            pids, (self._name,), asked=bool(last_line.strip()), secret=hides_lines(self.number)
        )
        if reader is not None and reader != self._answered:
            # It may take its time to wake up: until then it waits for what was typed already.
            self._answered = reader
            self._type(self._answer(reader, last_line, ask))
            self.put_off()

    def _answer(self, reader: Reader, last_line: str, ask: Ask) -> str | None:
        if self._ended:
            return None
        # A question that was printed is seen already.
        prompt = "" if last_line.strip() else f"{reader.name} reads a line: "
        answer = ask(prompt, hides_lines(self.number))
        self._ended = answer is None
        return answer

    def _type(self, answer: str | None) -> None:
        text = _END_OF_FILE if answer is None else answer.encode(errors="surrogateescape") + b"\n"
        with suppress(BlockingIOError):
            os.write(self._master, text)

    def _discard_echo(self) -> None:
        """Take out what the terminal repeats of the typed text; the person has seen it."""
        with suppress(BlockingIOError):
            while os.read(self._master, 4096):
                pass


def hides_lines(terminal: int) -> bool:
    """Whether a program asks for a password there: whole lines, and none is repeated on the screen."""
    modes = termios.tcgetattr(terminal)[3]
    return bool(modes & termios.ICANON and not modes & termios.ECHO)


def _without_keys(settings: list[int | list[bytes | int]]) -> list[int | list[bytes | int]]:
    """Terminal settings in which no character but the end of file has a meaning: lines arrive as typed."""
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
