"""What reads a person's lines: at the bottom of a screen (`Desk`), or one below the other (`LineDesk`)."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from terp_cli.prompt.talk import LineSettings, Typed

T = TypeVar("T")


class Reader(Protocol):
    """Reads messages while a REPL goes on, and answers to questions at any time."""

    @property
    def width(self) -> int:
        """Cells of a row."""

    def talking(self, talk: LineSettings) -> AbstractAsyncContextManager[None]:
        """Read messages until the block is left, also while turns go on."""

    async def message(self) -> str:
        """The next message.

        Raises:
            EOFError: the person leaves, or the terminal is gone.
        """

    async def line(
        self, question: str, *, secret: bool = False, fresh: bool = True, escape: str = ""
    ) -> Typed:
        """The line entered after `question`; `fresh` forgets what was typed before it.

        `escape` is what the Esc key answers, on an empty line.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            EOFError: Ctrl-D on an empty line, or the terminal is gone.
        """

    async def edited(self, text: str) -> str | None:
        """`text` as the person leaves it, typed here; None when they give up."""

    async def edited_with(self, editor: str, text: str, language: str) -> str | None:
        """`text` as the program `editor` leaves it; None when it fails."""

    async def away(self, do: Callable[[], T]) -> T:
        """What `do` returns, which has the terminal to itself; it runs in a thread."""

    def say(self, text: str) -> None:
        """Write plain lines of terp's own."""

    def prefill(self, text: str) -> None:
        """Let the person go on from `text`."""

    def refresh(self) -> None:
        """Show the toolbar as it is now."""

    def emit(self, sequence: str) -> None:
        """Write a sequence that leaves no trace on the screen."""

    def clear(self) -> None:
        """Clear the screen; what has scrolled away stays."""

    def interrupted(self) -> None:
        """Ctrl-C came as a signal, while no turn was going on."""

    def take_back(self) -> None:
        """Forget to send what was queued: the person wants to think again."""

    def close(self) -> None:
        """Give the terminal back."""
