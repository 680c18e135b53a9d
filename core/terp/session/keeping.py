"""The protocol of a store of sessions: `terp.store.keeping.Keeper` in a folder, or another store.

Another store implements `Keeping`; or only `LineStore`, from which `terp.store.lines.keep_lines` builds one.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from terp.events import Event
from terp.events.log import EarlierLog, Record
from terp.events.messages import ToolCall
from terp.session.context.history import Change, History
from terp.session.cost.budget import Tally
from terp.text.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LeftOver:
    """A tool call without a result, because terp ended: its ID in events, and how far it had come."""

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
    the user. `cut_off` are the other runs without an end: the number of each, and the first line of its code.
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
    cut_off: tuple[tuple[int, str], ...] = ()


class Keeping(Protocol):
    """Stores the events and messages of one session, in order. No method raises if the store fails."""

    @property
    def stored(self) -> Stored | None:
        """The session to resume; None for a new one."""

    @property
    def note_word(self) -> str:
        """The word that marks terp's notes to the model (`terp.text.note_mark`), stored with the session.

        A resumed session keeps its word: its stored messages have it. "" for none.
        """

    def begin(self, notice: Callable[[Event], object], model: str) -> None:
        """Begin a session with this model; failures are logged with `notice`."""

    def event(self, record: Record) -> None:
        """Store an event, before any reader sees it."""

    def change(self, change: Change) -> None:
        """Store a change of the messages, after it was made."""

    def earlier(self, last: int) -> EarlierLog | None:
        """Return the stored events up to record `last`; None if they cannot be read while it is open.

        Without them, all events of an open session stay in memory.
        """

    def as_kept(self, text: str) -> str:
        """Return a text as it is stored: without secrets."""

    def copy(self) -> str:
        """Store a copy of the session so far; return its id.

        Raises:
            SessionError: nothing is stored, or it cannot be copied.
        """

    def close(self) -> None:
        """Close the store. Harmless when called twice."""


class LineStore(Protocol):
    """An append-only log of one session, in lines of JSON.

    The methods are called in the thread of the session, except `sync`. After an error of one of them the user
    gets a notice, and the session continues in memory.
    """

    def append(self, lines: bytes) -> None:
        """Append one or more whole lines: all of them, or none."""

    def sync(self) -> None:
        """Write all appended lines safely to disk; called at the end of a turn, in another thread."""

    def close(self) -> None:
        """Close the store. Harmless when called twice."""
