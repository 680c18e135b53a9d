"""What a person types before the first prompt is there: kept for it, unseen and unchanged."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Self

from terp_cli.terminal import tty


class TypedAhead:
    """From its start on, Enter and Ctrl-D stay the keys they are and nothing is shown; Ctrl-C still works.

    A terminal's own line editing would make a line feed of the one, lose the other, and show the letters
    a second time, above the prompt. With None for a terminal it does nothing.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._quiet = ExitStack()

    def __enter__(self) -> Self:
        self._quiet.enter_context(tty.unechoed(self._descriptor))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hand_over()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Let the terminal edit lines as it always does, for a question that comes before the prompt."""
        self.hand_over()
        try:
            yield
        finally:
            self.__enter__()

    def hand_over(self) -> None:
        """Put the terminal's modes back for who reads now; what was typed waits there."""
        self._quiet.close()
