"""The keys of a terminal, without its answers to queries and its reports of the focus."""

from collections.abc import Callable, Sequence
from typing import TextIO

from prompt_toolkit.input.posix_utils import PosixStdinReader
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from terp_cli.terminal.terminal_facts import Replies, TerminalFacts

Learned = Callable[[TerminalFacts], None]


class TerminalKeys(Vt100Input):
    """Input of keys from a terminal; `learned` gets the facts from its answers.

    `focused` is called with True when the window gets the focus, False when it loses it. The terminal sends
    reports only after `TerminalWindow.taken`; prompt_toolkit would read them as letters.
    """

    def __init__(self, terminal: TextIO, learned: Learned, focused: Callable[[bool], None]) -> None:
        super().__init__(terminal)
        self._focused = focused
        self._reader = _KeysOnly(terminal, learned)
        self.stdin_reader = self._reader

    def read_keys(self) -> list[KeyPress]:
        """Return the pressed keys."""
        keys, reports = without_focus(super().read_keys())
        for has_focus in reports:
            self._focused(has_focus)
        return keys

    def flush_keys(self) -> list[KeyPress]:
        """Return held keys: no more input came for a while."""
        self.vt100_parser.feed(self._reader.replies.release())
        return super().flush_keys()


class _KeysOnly(PosixStdinReader):
    def __init__(self, terminal: TextIO, learned: Learned) -> None:
        super().__init__(terminal.fileno(), encoding=terminal.encoding)
        self._learned = learned
        self.replies = Replies()
        """Filter that separates answers from keys."""

    def read(self, count: int = 1024) -> str:
        """Return typed text."""
        before = self.replies.facts
        typed = self.replies.feed(super().read(count))
        if self.replies.facts is not before:
            self._learned(self.replies.facts)
        return typed


def without_focus(keys: Sequence[KeyPress]) -> tuple[list[KeyPress], list[bool]]:
    """Return the keys without `CSI I` and `CSI O`, and True or False for each of these, in order."""
    kept: list[KeyPress] = []
    reports: list[bool] = []
    for key in keys:
        if key.data in ("I", "O") and [(one.key, one.data) for one in kept[-2:]] == _CSI:
            del kept[-2:]
            reports.append(key.data == "I")
        else:
            kept.append(key)
    return kept, reports


_CSI = [(Keys.Escape, "\x1b"), ("[", "[")]
