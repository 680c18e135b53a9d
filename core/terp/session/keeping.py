"""What a session needs of whatever keeps it: `keeping.Keeper` in a folder, or another kind of store.

Another store implements `Keeping`; or only `Lines`, of which `terp.store.lines.keep_lines` makes one.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from terp.events import Event
from terp.events.log import Record
from terp.session.context.history import Change

if TYPE_CHECKING:
    from terp.store.reading import Stored


class Keeping(Protocol):
    """Takes what happens in one session, in order. No method raises because a store fails."""

    @property
    def stored(self) -> "Stored | None":
        """What was kept before, with which the session goes on; None for a new one."""

    def begin(self, notice: Callable[[Event], object], model: str) -> None:
        """A session with this model begins; what goes wrong is logged with `notice`."""

    def event(self, record: Record) -> None:
        """Keep an event, before anyone sees it."""

    def change(self, change: Change) -> None:
        """Keep a change of the messages, after it was made."""

    def as_kept(self, text: str) -> str:
        """A text as it is kept: without secrets."""

    def copy(self) -> str:
        """Make another session of all that is kept until now; its id.

        Raises:
            SessionError: nothing is kept, or it cannot be copied.
        """

    def close(self) -> None:
        """The session is over. Harmless when called twice."""


class Lines(Protocol):
    """Where the log of one session goes, in lines of JSON that are never changed again.

    The methods are called in the thread of the session, but for `sync`. Whatever they raise ends the
    keeping, with a notice; the session goes on in memory.
    """

    def append(self, lines: bytes) -> None:
        """Take one or more whole lines: all of them, or none."""

    def sync(self) -> None:
        """Have safe what was taken until now, at the end of a turn; called in another thread."""

    def close(self) -> None:
        """The session is over. Harmless when called twice."""
