"""A terminal to look at: what a person would see, and what was written to get there."""

import asyncio
import io
from collections.abc import Iterable, Sequence
from typing import Any

import pyte
from rich.color import ColorSystem

from terp_cli.render.ansi import Palette, TerminalScreen
from terp_cli.render.markdown.markdown import MarkdownStream
from terp_cli.terminal.painter import Painter


class _Screen(pyte.HistoryScreen):
    """A screen whose rows exist: pyte lets a row stand where one that was never written moves up to it.

    Like tmux it keeps what is erased from the top left corner on in the scrollback (`scroll-on-clear`).
    """

    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        if how == 0 and (self.cursor.x, self.cursor.y) == (0, 0):
            used = [row for row, text in enumerate(self.display) if text.strip()]
            self.history.top.extend(self.buffer.pop(row) for row in range(max(used, default=-1) + 1))
        super().erase_in_display(how, *args, **kwargs)

    def delete_lines(self, count: int | None = None) -> None:
        for row in range(self.lines):
            self.buffer[row]
        super().delete_lines(count)


class Terminal(io.StringIO):
    """Takes what is written, as a terminal of this size would."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        super().__init__()
        self.columns, self.rows = columns, rows

    def size(self) -> tuple[int, int]:
        return self.columns, self.rows

    def isatty(self) -> bool:
        return True

    def screen(
        self, painter: Painter | None = None, colours: ColorSystem | None = ColorSystem.EIGHT_BIT
    ) -> TerminalScreen:
        return TerminalScreen(painter or self.painter(), Palette(colours))

    def painter(self, *, live: bool = True) -> Painter:
        return Painter(self, self.size, live=live)

    def pyte(self, history: int = 1_000) -> pyte.HistoryScreen:
        """The screen as it is now, with where its cursor is."""
        screen = _Screen(self.columns, self.rows, history=history, ratio=1.0)
        # pyte drops the rest of a piece at a character without a width that combines with nothing.
        pyte.Stream(screen).feed(self.getvalue().translate({0x200D: None, 0xFE0F: None}))
        return screen

    def shown(self, history: int = 1_000) -> list[str]:
        """All rows, also those that have scrolled away, without blank ones at the end."""
        screen = self.pyte(history)
        above = ["".join(row[at].data for at in range(self.columns)) for row in screen.history.top]
        return "\n".join(row.rstrip() for row in [*above, *screen.display]).rstrip().split("\n")


class Watched(Terminal):
    """A terminal whose reader can wait for what appears on it."""

    def __init__(self, columns: int = 80, rows: int = 40) -> None:
        super().__init__(columns, rows)
        self._more = asyncio.Event()

    def write(self, text: str) -> int:
        self._more.set()
        return super().write(text)

    async def lost(self, text: str) -> None:
        """Return when no row of the screen has `text`."""
        async with asyncio.timeout(20):
            while any(text in row for row in self.pyte().display):
                self._more.clear()
                await self._more.wait()

    async def wrote(self, text: str, times: int = 1) -> None:
        """Return when `text` was written so often."""
        async with asyncio.timeout(20):
            while self.getvalue().count(text) < times:
                self._more.clear()
                await self._more.wait()


def stream(terminal: Terminal, chunks: Iterable[str], paint: Sequence[bool] = (True,)) -> None:
    """A reply in chunks, painted after those that `paint` says, in turn."""
    screen = terminal.screen()
    markdown = MarkdownStream(lambda: screen.width, lambda: screen.tail_rows)
    waiting = []
    for at, chunk in enumerate(chunks):
        waiting += markdown.feed(chunk)
        if paint[at % len(paint)]:
            screen.update(waiting, markdown.tail(screen.tail_rows))
            waiting = []
    screen.update(waiting + markdown.finish())


def cut(text: str, sizes: Sequence[int]) -> list[str]:
    """`text` in chunks of these sizes, over and over."""
    chunks: list[str] = []
    at = 0
    while at < len(text):
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(text[at : at + size])
        at += size
    return chunks
