"""The keys of a terminal, without the answers that it gives among them."""

from collections.abc import Callable
from typing import TextIO

from prompt_toolkit.input.posix_utils import PosixStdinReader
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyPress

from terp_cli.terminal_query import Replies, TerminalFacts


class Keys(Vt100Input):
    """Reads keys from a terminal; what the terminal tells of itself goes to `facts`."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__(terminal)
        self.learned: Callable[[TerminalFacts], None] | None = None
        self._replies = Replies()
        self.stdin_reader = _KeysOnly(terminal, self._replies, self._learn)

    @property
    def facts(self) -> TerminalFacts:
        """What is known of the terminal so far."""
        return self._replies.facts

    def flush_keys(self) -> list[KeyPress]:
        """The keys that were waiting for more: nothing came for a while."""
        self.vt100_parser.feed(self._replies.release())
        return super().flush_keys()

    def _learn(self) -> None:
        if self.learned is not None:
            self.learned(self._replies.facts)


class _KeysOnly(PosixStdinReader):
    def __init__(self, terminal: TextIO, replies: Replies, learned: Callable[[], None]) -> None:
        super().__init__(terminal.fileno(), encoding=terminal.encoding)
        self._replies = replies
        self._learned = learned

    def read(self, count: int = 1024) -> str:
        """What was typed."""
        before = self._replies.facts
        typed = self._replies.feed(super().read(count))
        if self._replies.facts is not before:
            self._learned()
        return typed
