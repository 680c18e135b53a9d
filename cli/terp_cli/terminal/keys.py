"""The keys of a terminal, without the answers that it gives among them."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

from prompt_toolkit.input.posix_utils import PosixStdinReader
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyPress

from terp_cli.terminal.terminal_facts import TerminalFacts

if TYPE_CHECKING:
    from terp_cli.terminal.terminal_query import Replies

Learned = Callable[[TerminalFacts], None]


class Keys(Vt100Input):
    """Reads keys from a terminal; what the terminal tells of itself goes to `learned`."""

    def __init__(self, terminal: TextIO, learned: Learned) -> None:
        super().__init__(terminal)
        self._reader = _KeysOnly(terminal, learned)
        self.stdin_reader = self._reader

    def flush_keys(self) -> list[KeyPress]:
        """The keys that were waiting for more: nothing came for a while."""
        self.vt100_parser.feed(self._reader.replies.release())
        return super().flush_keys()


class _KeysOnly(PosixStdinReader):
    def __init__(self, terminal: TextIO, learned: Learned) -> None:
        super().__init__(terminal.fileno(), encoding=terminal.encoding)
        self._learned = learned

    @cached_property
    def replies(self) -> "Replies":
        """What tells answers from keys; nothing is read before the first prompt is there."""
        from terp_cli.terminal.terminal_query import Replies  # noqa: PLC0415

        return Replies()

    def read(self, count: int = 1024) -> str:
        """What was typed."""
        before = self.replies.facts
        typed = self.replies.feed(super().read(count))
        if self.replies.facts is not before:
            self._learned(self.replies.facts)
        return typed
