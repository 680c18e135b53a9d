"""A prompt of plain lines, which the terminal edits.

For a terminal that cannot move its cursor, and for a screen reader, which would read everything redrawn.
"""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from textwrap import fill
from typing import TYPE_CHECKING, TextIO, TypeVar

from terp_cli.prompt.interface import (
    LEAVING,
    NOT_SENT,
    SHELL,
    CardLine,
    Pick,
    PromptHost,
    Typed,
    goes_on,
    lettered,
    margin,
    matching,
    unmarked,
)
from terp_cli.terminal import tty
from terp_cli.terminal.desktop import run_editor
from terp_cli.terminal.sanitise import one_line, readable

if TYPE_CHECKING:
    from terp.person import Option

T = TypeVar("T")
_READ_BYTES = 65_536
# Rows of a list at a time.
_SHOWN = 15


class LinePrompt:
    """A prompt that reads lines from the terminal behind `descriptor` and writes to `out`."""

    def __init__(self, descriptor: int, out: TextIO, mark: str = "> ") -> None:
        self._descriptor = descriptor
        self._out = out
        self._mark = mark
        self._unread = b""
        self._lines: deque[str] = deque()
        self._more = asyncio.Event()
        self._ended = False
        self._paused = False
        self._leaving = False
        # Each line is a command of the shell, from `!` until an empty line.
        self._in_shell = False
        self._asking = asyncio.Lock()
        self._host: PromptHost | None = None

    @property
    def width(self) -> int:
        """Cells of a row."""
        return max(20, tty.size_of(self._out)[0])

    @asynccontextmanager
    async def reading(self, host: PromptHost) -> AsyncIterator[None]:
        """Read messages until the block is left, also while turns are running."""
        self._host = host
        host.begin()
        try:
            with self._reading():
                yield
        finally:
            self._host = None

    async def message(self) -> str:
        """Return the next message, of several lines where a line is continued.

        Raises:
            EOFError: the user leaves, or the terminal is gone.
        """
        self._write(f"\n{self._mark}")
        text = await self._first()
        while text.strip() == SHELL or (self._in_shell and not text.strip()):
            self._in_shell = not self._in_shell
            self._write(f"\n{SHELL if self._in_shell else ''}{self._mark}")
            text = await self._first()
        if self._in_shell:
            return f"{SHELL}{text}"
        while goes_on(text):
            self._write(margin(text, ""))
            text += "\n" + await self._next()
        return unmarked(text)

    async def line(
        self, question: str, *, secret: bool = False, fresh: bool = True, escape: str = ""
    ) -> Typed:
        """Return the line entered after `question`; `fresh` discards keys typed before it.

        `escape` is the answer of the Esc key on an empty line.

        Raises:
            EOFError: Ctrl-D on an empty line, or the terminal is gone.
        """
        async with self._asking:
            with self._reading(), self._unseen(secret):
                if fresh:
                    tty.drop_typed(self._descriptor)
                    self._lines.clear()
                    self._unread = b""
                self._write(question)
                # Such a terminal does not mark pastes; several lines at once count as one.
                text = await self._next(answers=True)
                return Typed(escape if text == "\x1b" else text, pasted=len(self._lines) > 0)

    async def pick(self, title: str, picks: Sequence[Pick], at: int = 0) -> int | None:
        """Return the position of the row that the user picks from a numbered list; None if they leave."""
        found = list(range(len(picks)))
        while True:
            for number, position in enumerate(found[:_SHOWN], 1):
                mark = "*" if position == at else " "
                self.say(f"{number:3} {mark}{'  '.join(map(one_line, picks[position].cells))}")
            if len(found) > _SHOWN:
                self.say(f"     and {len(found) - _SHOWN} more: search for a word")
            try:
                # What is typed ahead of the list may narrow it; nothing here consents to anything.
                asked = await self.line(f"{title} Number, or words to search for: ", fresh=False)
            except (EOFError, KeyboardInterrupt):
                return None
            typed = asked.text.strip()
            if typed in ("", "q", "quit", "\x1b"):
                return None
            if typed.isdecimal() and 1 <= int(typed) <= min(len(found), _SHOWN):
                return found[int(typed) - 1]
            narrowed = matching(picks, typed)
            if not narrowed:
                self.say(f"Nothing matches '{one_line(typed)}'.")
            found = narrowed or found

    async def choose(
        self, card: Sequence[CardLine], options: "Sequence[Option]", *, escape: str = "", preset: str = ""
    ) -> Typed:
        """Return the line entered after the lines of `card`, and the letters of the options."""
        lines = [*(line for _, line in card), fill(f"{lettered(options)} · [?] ›", self.width - 2)]
        typed = await self.line("\n".join(lines) + " ", escape=escape)
        return typed if typed.text.strip() else Typed(preset, pasted=typed.pasted)

    def settle(self, text: str) -> None:
        """Do nothing: the question and its answer stay on the screen."""

    async def edited(self, text: str) -> str | None:
        """Return None: a text of several lines cannot be edited here without an editor."""
        self._write("Set EDITOR to the program to edit with.\n")
        return None

    async def edited_with(self, editor: str, text: str, language: str) -> str | None:
        """Return `text` as edited with the program `editor`; None if it fails."""
        return await self.away(lambda: run_editor(editor, text, language, self._descriptor))

    async def away(self, do: Callable[[], T]) -> T:
        """Run `do`, which uses the terminal, in a thread; return its result."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._descriptor)
        try:
            return await asyncio.to_thread(do)
        finally:
            if self._host is not None or self._asking.locked():
                loop.add_reader(self._descriptor, self._read)

    def redraw(self) -> None:
        """Do nothing: these lines are not remembered."""

    def say(self, text: str) -> None:
        """Write plain lines of terp."""
        self._write(text.rstrip("\n") + "\n")

    def prefill(self, text: str) -> None:
        """Show `text` for the user to copy: an input line cannot hold a text in advance here."""
        self.say(readable(text))

    def refresh(self) -> None:
        """Do nothing: there is no toolbar."""

    def emit(self, sequence: str) -> None:
        """Do nothing: such a terminal would show it."""

    def interrupted(self) -> None:
        """Show a new prompt: the terminal has cleared the line; leave at the second time in a row."""
        self._ended = self._leaving
        self._leaving, self._in_shell = True, False
        self._more.set()
        if not self._ended:
            self._write(f"\n{LEAVING}\n{self._mark}")

    def take_back(self) -> None:
        """Drop the lines that were typed ahead, and list them."""
        for line in self._lines:
            self.say(f"{NOT_SENT}{readable(line)}")
        self._lines.clear()

    def close(self) -> None:
        """Do nothing: no file is open."""

    async def _first(self) -> str:
        while True:
            try:
                return await self._next()
            except EOFError:
                if self._host is None or self._host.may_leave():
                    raise

    async def _next(self, *, answers: bool = False) -> str:
        """Return the next line; while a question is open, only its caller (`answers`) gets one."""
        while not self._lines or (self._asking.locked() and not answers):
            if self._ended and (answers or not self._asking.locked()):
                self._ended = False
                raise EOFError
            if self._paused:
                self._paused = False
                asyncio.get_running_loop().add_reader(self._descriptor, self._read)
            self._more.clear()
            await self._more.wait()
        return self._lines.popleft()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        begins = self._host is None or not self._asking.locked()
        if begins:
            loop.add_reader(self._descriptor, self._read)
        try:
            yield
        finally:
            if begins:
                loop.remove_reader(self._descriptor)

    def _read(self) -> None:
        try:
            got = os.read(self._descriptor, _READ_BYTES)
        except OSError:
            got = b""
        # In line mode a terminal delivers whole lines; an empty read is the end of file.
        self._ended = self._paused = not got
        if self._paused:
            # A terminal that is gone is readable all the time: read it only when a line is needed.
            asyncio.get_running_loop().remove_reader(self._descriptor)
        *lines, self._unread = (self._unread + got).split(b"\n")
        self._leaving = False
        self._lines += [
            line for line in (one.decode(errors="replace") for one in lines) if not self._done(line)
        ]
        self._more.set()

    def _done(self, line: str) -> bool:
        """Return True if a line was executed at once, and is no answer."""
        return self._host is not None and not self._asking.locked() and self._host.run_at_once(line)

    @contextmanager
    def _unseen(self, secret: bool) -> Iterator[None]:
        if not secret:
            yield
            return
        try:
            with tty.unseen(self._descriptor):
                yield
        finally:
            self._write("\n")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
