"""What a session needs of its store: `terp.store.keeping.Keeper` in a folder, or another kind.

Another store implements `Keeping`; or only `LineStore`, of which `terp.store.lines.keep_lines` makes one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from terp.events import Event
from terp.events.log import EarlierLog, Record
from terp.events.messages import ToolCall
from terp.session.context.history import Change, History
from terp.session.cost.budget import Tally


@dataclass(frozen=True, slots=True)
class LeftOver:
    """A tool call that the end of terp left without a result: its ID in events, and how far it had come."""

    call_id: str
    call: ToolCall
    started: bool = False
    finished: bool = False


@dataclass(slots=True, kw_only=True)
class Stored:
    """A session as it was stored, to resume.

    `used` is what all calls of the model used; `calls` and `questions` are counts from which the numbers
    continue, `runs` is how many runs there were and `last_run` the number of the last. `gone` are the names
    that the last kernels held. `left_over` are the calls without a result of a turn that was cut off in its
    reply `step`; `jobs` is what still ran in the background, as in "Job 1 (python)". `notices` are shown to
    the user.
    """

    folder: Path
    history: History
    events: EarlierLog
    model: str
    used: Tally
    runs: int
    last_run: int
    calls: int
    questions: int
    gone: tuple[str, ...]
    left_over: tuple[LeftOver, ...]
    jobs: tuple[str, ...]
    step: int
    notices: tuple[str, ...]


class Keeping(Protocol):
    """Takes what happens in one session, in order. No method raises because a store fails."""

    @property
    def stored(self) -> Stored | None:
        """The session to resume; None for a new one."""

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


class LineStore(Protocol):
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
